import { expect, it } from 'vitest'
import { createBatchMemory } from '../src/memory.ts'
import { idle } from './support.ts'

it('the memory of a call is given back once, in two parts', async () => {
  const { take } = createBatchMemory(24)
  const never = new AbortController().signal
  const free = await take('a', 24, never)
  free(4)
  const freeOther = await take('b', 4, never)
  free()
  const waiting = take('c', 21, never)
  expect(await Promise.race([waiting, idle().then(() => 'waits')])).toBe('waits')
  freeOther()
  await waiting
})

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
