import { expect, it } from 'vitest'
import { createBatchMemory } from '../src/memory.ts'

const MB = 1_000_000

it('memory of batches goes to each owner up to its share, and to those that wait as soon as it is free', async () => {
  const { signal } = new AbortController()
  const { take } = createBatchMemory(24 * MB, 8 * MB)
  const got: string[] = []
  const free = await take('a', 8 * MB, signal)
  const waiting = ['a', 'b', 'c', 'd'].map((owner) => take(owner, 7 * MB, signal).then(() => got.push(owner)))
  await waiting[2]
  expect(got).toEqual(['b', 'c'])
  free(2 * MB)
  free()
  free()
  await waiting[0]
  expect(got).toEqual(['b', 'c', 'a'])
})

it('memory of batches is waited for until the signal fires', async () => {
  const { signal } = new AbortController()
  const { take } = createBatchMemory(24 * MB, 8 * MB)
  const free = await take('a', 30 * MB, signal)
  const end = new AbortController()
  const waiting = take('b', MB, end.signal)
  end.abort()
  for (const freeOther of [await waiting, await take('b', MB, end.signal)]) freeOther()
  free()
  await take('c', 30 * MB, signal)
})
