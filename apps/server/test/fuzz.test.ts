import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { anyRequest, createTarget } from './fuzzing.ts'

beforeAll(() => {
  // The pause between two tries is random, up to a limit: this makes it none.
  vi.spyOn(Math, 'random').mockReturnValue(0)
})
afterAll(() => void vi.restoreAllMocks())

it('whatever arrives, it is answered, and not as a fault of the host', async () => {
  const target = createTarget()
  const seed = Date.now()
  console.log(`fast-check’s seed is ${seed}`)
  await fc.assert(
    fc.asyncProperty(anyRequest, async (request) => {
      expect(await target.send(request)).toBeUndefined()
    }),
    { seed, numRuns: 1_000 },
  )
  // Otherwise the fuzz would have tested the front door alone.
  expect(target.world.mail.messages.length).toBeGreaterThan(5)
  expect(target.world.workspace.calls.length).toBeGreaterThan(20)
}, 30_000)
