import { createShares } from '@org/core/authoring'
import { describe, expect, it } from 'vitest'

const never = new AbortController().signal
const overloaded = { code: 'overloaded', retryable: true, effect: 'none', retryAfter: 1 }

describe('what is shared', () => {
  it('goes to each owner up to its share, and to those that wait as soon as it is free', async () => {
    const { take } = createShares({ all: 3, each: 2, what: 'calls' })
    const got: string[] = []
    const wait = (owner: string) => take(owner, 1, never).then(() => void got.push(owner))
    const free = await take('a', 2, never)
    const waiting = ['a', 'b', 'c', 'd'].map(wait)
    await waiting[1]
    expect(got).toEqual(['b'])
    free()
    free()
    await Promise.all([waiting[0], waiting[2]])
    expect(got).toEqual(['b', 'a', 'c'])
  })

  it('goes as a whole to one that needs more than its share while it has nothing', async () => {
    const { take } = createShares({ all: 4, each: 1, what: 'calls' })
    await take('a', 1, never)
    await take('b', 3, never)
  })

  it('is refused to one whose signal fires before there is enough', async () => {
    const { take } = createShares({ all: 1, each: 1, what: 'calls' })
    const free = await take('a', 1, never)
    const controller = new AbortController()
    const waiting = take('b', 1, controller.signal)
    controller.abort()
    await expect(waiting).rejects.toMatchObject(overloaded)
    await expect(take('b', 1, controller.signal)).rejects.toMatchObject(overloaded)
    free()
    await take('c', 1, never)
  })
})
