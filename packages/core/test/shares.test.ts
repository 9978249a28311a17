import { createShares } from '@org/core/authoring'
import { describe, expect, it } from 'vitest'

const never = new AbortController().signal
const overloaded = { code: 'overloaded', retryable: true, effect: 'none', retryAfter: 1 }

/** Takes amounts, and notes who has got one. */
function createBook(options: { all: number; each: number; waiting?: number }) {
  const shares = createShares({ ...options, what: 'calls' })
  const got: string[] = []
  return {
    got,
    take: (owner: string, amount: number, signal = never) =>
      shares.take(owner, amount, signal).then((free) => {
        got.push(owner)
        return free
      }),
  }
}

describe('what is shared', () => {
  it('goes to each owner up to its share, and to the next one as soon as it is free', async () => {
    const { take, got } = createBook({ all: 6, each: 2 })
    const free = await take('a', 2)
    const waiting = take('a', 1)
    await take('b', 2)
    expect(got).toEqual(['a', 'b'])
    free()
    await waiting
    expect(got).toEqual(['a', 'b', 'a'])
  })

  it('goes to no owner when all of it is in use, and is given back once only', async () => {
    const { take, got } = createBook({ all: 2, each: 1 })
    const free = await take('a', 1)
    await take('b', 1)
    const waiting = [take('c', 1), take('d', 1)]
    free()
    free()
    await waiting[0]
    expect(got).toEqual(['a', 'b', 'c'])
  })

  it('goes as a whole to one that needs more than its share while it has nothing', async () => {
    const { take, got } = createBook({ all: 4, each: 1 })
    await take('a', 1)
    await take('b', 3)
    expect(got).toEqual(['a', 'b'])
  })

  it('is refused to one whose signal fires before there is enough', async () => {
    const { take } = createBook({ all: 1, each: 1 })
    const free = await take('a', 1)
    const controller = new AbortController()
    const waiting = take('b', 1, controller.signal)
    controller.abort()
    await expect(waiting).rejects.toMatchObject(overloaded)
    await expect(take('b', 1, controller.signal)).rejects.toMatchObject(overloaded)
    free()
    await take('c', 1)
  })

  it('is refused at once when too much waits already', async () => {
    const { take } = createBook({ all: 1, each: 1, waiting: 5 })
    await take('a', 1)
    void take('b', 9)
    await expect(take('c', 1)).rejects.toMatchObject(overloaded)
  })
})
