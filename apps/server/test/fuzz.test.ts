import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { fuzz } from './fuzzing.ts'

beforeAll(() => {
  // The pause between two attempts is random, up to a limit: this makes it none.
  vi.spyOn(Math, 'random').mockReturnValue(0)
})
afterAll(() => void vi.restoreAllMocks())

it('the host answers a thousand hostile requests without a fault', async () => {
  const seed = Date.now()
  console.log(`fast-check’s seed is ${seed}`)
  const { mail, workspace } = await fuzz(seed, 1_000)
  // Enough of them must pass the validation.
  expect(mail.messages.length).toBeGreaterThan(5)
  expect(workspace.calls.length).toBeGreaterThan(20)
})
