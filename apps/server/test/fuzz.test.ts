import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { anyRequest, createTarget } from './fuzzing.ts'

beforeAll(() => {
  // The pause between two attempts is random, up to a limit: this makes it none.
  vi.spyOn(Math, 'random').mockReturnValue(0)
})
afterAll(() => void vi.restoreAllMocks())

it('the host answers a thousand hostile requests without a fault', async () => {
  const target = createTarget()
  const seed = Date.now()
  console.log(`fast-check’s seed is ${seed}`)
  await fc.assert(
    fc.asyncProperty(anyRequest, async (request) => {
      expect(await target.send(request)).toBeUndefined()
    }),
    { seed, numRuns: 1_000 },
  )
  // Enough of them must pass the validation.
  expect(target.world.mail.messages.length).toBeGreaterThan(5)
  expect(target.world.workspace.calls.length).toBeGreaterThan(20)
}, 30_000)
