import { beforeEach, describe, expect, it } from 'vitest'
import { memoryStore } from '../src/index.ts'
import { describeDeliveryStore } from '../src/testing/index.ts'

describeDeliveryStore({ describe, it, expect, beforeEach }, 'memory', (now) => memoryStore({ now }))

describe('the capacity of the store in memory', () => {
  const answer = { status: 200, body: 'sealed' }

  /** A store for two records; `run` claims and completes at once. */
  function small() {
    const store = memoryStore({ capacity: 2 })
    const claim = (subject: string, id = subject) =>
      store.claim({ subject, delivery: { id, digest: 'd' }, leaseMs: 60_000 })
    const run = async (subject: string, id = subject) => {
      const result = await claim(subject, id)
      if (result.state === 'claimed') {
        await store.complete(result.lease, { answer, progress: {}, keepMs: 60_000 })
      }
      return result.state
    }
    return { claim, run }
  }

  it('makes the oldest finished record give way', async () => {
    const { run } = small()
    for (const subject of ['a', 'b', 'c']) await run(subject)
    expect(await run('b')).toBe('done')
    expect(await run('c')).toBe('done')
    expect(await run('a')).toBe('claimed')
  })

  it('counts a record as young again when it is claimed again', async () => {
    const { run } = small()
    for (const subject of ['a', 'b']) await run(subject)
    await run('a', 'later')
    await run('c')
    expect(await run('a')).toBe('done')
    expect(await run('b')).toBe('claimed')
  })

  it('never makes a live claim give way, even where there is room for nothing else', async () => {
    const { claim, run } = small()
    for (const subject of ['a', 'b', 'c']) await claim(subject)
    await run('d')
    for (const subject of ['a', 'b', 'c']) expect(await claim(subject)).toMatchObject({ state: 'busy' })
  })
})
