import { describe, expect, it } from 'vitest'
import { flatten } from '../src/flatten.ts'

/** Lists one after another, with what happens to whoever reads them. */
function source(lists: readonly number[][], end?: Error) {
  const seen = { read: 0, closed: false }
  async function* generate(): AsyncGenerator<readonly number[]> {
    try {
      for (const list of lists) {
        seen.read += 1
        yield list
      }
      if (end) throw end
    } finally {
      seen.closed = true
    }
  }
  return { seen, stream: flatten(generate()) }
}

async function collect(stream: AsyncIterable<number>): Promise<number[]> {
  const items = []
  for await (const item of stream) items.push(item)
  return items
}

describe('lists as one stream', () => {
  it('keeps the order, over empty lists too', async () => {
    const { stream } = source([[], [1, 2], [], [], [3], []])
    expect(await collect(stream)).toEqual([1, 2, 3])
    expect(await stream.next()).toEqual({ done: true, value: undefined })
  })

  it('reads a list only when the one before it is used up', async () => {
    const { seen, stream } = source([[1, 2], [3]])
    await stream.next()
    await stream.next()
    expect(seen.read).toBe(1)
    await stream.next()
    expect(seen.read).toBe(2)
  })

  it('gives each item to one of those who ask at the same time', async () => {
    const { stream } = source([[1], [], [2, 3], [4]])
    const answers = await Promise.all(Array.from({ length: 6 }, () => stream.next()))
    expect(answers.flatMap(({ done, value }) => (done ? [] : [value])).sort()).toEqual([1, 2, 3, 4])
    expect(answers.filter(({ done }) => done)).toHaveLength(2)
  })

  it('closes its source when it is left early', async () => {
    const { seen, stream } = source([
      [1, 2],
      [3, 4],
    ])
    for await (const item of stream) if (item === 1) break
    expect(seen).toEqual({ read: 1, closed: true })
    expect(await stream.next()).toEqual({ done: true, value: undefined })
  })

  it('ends with what its source throws, after the items before it', async () => {
    const { stream } = source([[1]], new Error('the source is gone'))
    expect(await stream.next()).toEqual({ done: false, value: 1 })
    await expect(stream.next()).rejects.toThrow('the source is gone')
    expect(await stream.next()).toEqual({ done: true, value: undefined })
  })
})
