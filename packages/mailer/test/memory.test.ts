import { expect, it } from 'vitest'
import { createBatchMemory } from '../src/memory.ts'

it('a batch that ends waits no longer for the memory of a call, and gives back what it took', async () => {
  const { take } = createBatchMemory(24)
  const free = await take('a', 24, new AbortController().signal)
  const end = new AbortController()
  const waiting = take('b', 1, end.signal)
  end.abort()
  for (const freeOther of [await waiting, await take('b', 1, end.signal)]) freeOther()
  free()
  expect(await take('c', 24, new AbortController().signal)).toBeTypeOf('function')
})
