import { afterEach, describe, expect, it, vi } from 'vitest'
import { type DeliveryStore, type HandlerContext, type Json, memoryStore } from '../src/index.ts'
import { deliver } from '../src/testing/index.ts'
import { calling, created, createHost, deleted, type ExampleSettings, type ProviderCall } from './example.ts'
import { gate } from './gate.ts'

const greet = calling('greet', { to: 'Ada' })
const deployment = { id: 'dep_1' }
const id = 'evt_1'

describe('a store that can’t be reached', () => {
  const away = () => Promise.reject(new Error('connect ECONNREFUSED'))

  it('stops everything that has an effect, before it has one', async () => {
    const host = createHost({ store: { ...memoryStore(), claim: away } })
    for (const event of [created, deleted, greet]) {
      const answer = await deliver(host.handle, event, { id })
      expect(answer).toMatchObject({ status: 503, body: { code: 'overloaded', retryable: true } })
      expect(answer.headers.get('retry-after')).toBe('5')
    }
    expect(host.asked).toEqual([])
    expect(host.told()).toEqual([])
  })

  it('stops nothing else', async () => {
    const store = {
      claim: away,
      renew: away,
      advance: away,
      complete: away,
      release: away,
      read: away,
      ping: away,
    }
    const host = createHost({ store })
    for (const event of [
      { name: 'WEBHOOK_CHALLENGE' },
      { name: 'HEALTH_CHECK', deployment },
      { name: 'METRIC_UPDATE', deployment },
      { name: 'DOWNLOAD_STARTED', deployment },
      calling('count'),
    ]) {
      expect((await deliver(host.handle, event, { id })).status).toBe(200)
    }
  })

  it('only when the work is done does not take the answer back, and says so in the log', async () => {
    const host = createHost({ store: { ...memoryStore(), complete: away } })
    expect((await deliver(host.handle, greet, { id })).status).toBe(200)
    expect(host.lines.map(({ message }) => message)).toContain('The answer was not recorded.')
    // Its lease still runs, so a redelivery can't do it twice.
    expect((await deliver(host.handle, greet, { id })).status).toBe(409)
    expect(host.asked).toHaveLength(1)
  })
})

describe('the end of a deployment’s event that can’t be recorded', () => {
  it.each([
    {
      how: 'because the store is away',
      complete: () => Promise.reject(new Error('away')),
      code: 'overloaded',
    },
    { how: 'because the claim was lost', complete: async () => false, code: 'delivery_in_progress' },
  ])('$how is not acknowledged, so that it is delivered again', async ({ complete, code }) => {
    for (const event of [created, deleted]) {
      const host = createHost({ store: { ...memoryStore(), complete } })
      expect(await deliver(host.handle, event, { id })).toMatchObject({ body: { code, retryable: true } })
    }
  })

  it('leaves no way for a creation that comes after it', async () => {
    let time = Date.now()
    const memory = memoryStore({ now: () => time })
    let away = true
    const host = createHost({
      store: {
        ...memory,
        complete: (...end) => (away ? Promise.reject(new Error('away')) : memory.complete(...end)),
      },
    })
    expect((await deliver(host.handle, deleted, { id: 'evt_deleted' })).status).toBe(503)
    away = false
    time += 60_000
    expect((await deliver(host.handle, deleted, { id: 'evt_deleted' })).status).toBe(200)
    const late = await deliver(host.handle, created, { id: 'evt_created' })
    expect(late).toMatchObject({ status: 200, body: { status: 'ignored' } })
  })
})

describe('a holder that vanished in the middle of its work', () => {
  /** A store in which a holder has claimed a subject, written something down, and vanished. */
  async function abandoned(subject: string, progress: Record<string, Json> = {}) {
    let time = 0
    const store = memoryStore({ now: () => time })
    const result = await store.claim({ subject, leaseMs: 60_000 })
    if (result.state === 'claimed') await store.advance(result.lease, progress)
    time = 60_000
    return createHost({ store })
  }

  it('before anything had left is as if it had never been', async () => {
    const host = await abandoned('greeter/delivery/evt_1')
    expect((await deliver(host.handle, greet, { id })).status).toBe(200)
    expect(host.asked).toHaveLength(1)
  })

  it('leaves a call of which nobody knows: outcome_unknown, and it is not made again', async () => {
    const host = await abandoned('greeter/delivery/evt_1', { intent: true })
    for (const replayed of [null, 'true']) {
      const { status, body, headers } = await deliver(host.handle, greet, { id })
      expect({ status, body }).toMatchObject({
        status: 409,
        body: { code: 'outcome_unknown', retryable: false },
      })
      expect(headers.get('idempotency-replayed')).toBe(replayed)
    }
    expect(host.asked).toEqual([])
  })

  it.each([created, deleted])('has its $name taken over by the next delivery', async (event) => {
    const host = await abandoned('greeter/deployment/dep_1')
    expect((await deliver(host.handle, event, { id })).status).toBe(200)
    expect(host.asked).toHaveLength(1)
  })
})

describe('the intent to change something', () => {
  const request =
    (method: string) =>
    async (_: ProviderCall, { fetch }: HandlerContext<ExampleSettings>) => {
      await fetch('http://provider.test', { method })
    }

  it.each([
    ['POST', [{ intent: true }]],
    ['GET', []],
  ])('of a call by %s is written down before it leaves', async (method, written) => {
    const memory = memoryStore()
    const steps: unknown[] = []
    const host = createHost({
      provider: request(method),
      store: {
        ...memory,
        advance: (lease, progress) => {
          steps.push({ ...progress })
          return memory.advance(lease, progress)
        },
      },
      fetch: async () => {
        expect(steps).toEqual(written)
        return new Response()
      },
    })
    expect((await deliver(host.handle, greet, { id })).status).toBe(200)
  })

  it('that can’t be written down stops the call, and it may be tried again', async () => {
    let sent = 0
    const host = createHost({
      provider: request('POST'),
      store: { ...memoryStore(), advance: () => Promise.reject(new Error('away')) },
      fetch: async () => {
        sent += 1
        return new Response()
      },
    })
    expect(await deliver(host.handle, greet, { id })).toMatchObject({
      status: 503,
      body: { code: 'overloaded' },
    })
    expect(sent).toBe(0)
  })
})

describe('the claim of work that takes long', () => {
  afterEach(() => vi.useRealTimers())

  /** A host whose provider works until its signal fires, or the test ends it. */
  function longWork(store: DeliveryStore) {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'Date'] })
    const begun = gate<AbortSignal>()
    const finished = gate()
    const host = createHost({
      store,
      async provider(_, { signal }) {
        begun.open(signal)
        signal.addEventListener('abort', () => finished.open())
        await finished.passed
      },
    })
    return { host, begun: begun.passed, finish: finished.open }
  }

  it('is renewed, so that nobody takes it over', async () => {
    const { host, begun, finish } = longWork(memoryStore())
    const first = deliver(host.handle, greet, { id })
    await begun
    await vi.advanceTimersByTimeAsync(300_000)
    expect((await deliver(host.handle, greet, { id })).body).toMatchObject({ code: 'delivery_in_progress' })
    finish()
    expect((await first).status).toBe(200)
  })

  it('is not renewed any more when it is done', async () => {
    const memory = memoryStore()
    const renew = vi.fn(memory.renew)
    const { host, begun, finish } = longWork({ ...memory, renew })
    const first = deliver(host.handle, greet, { id })
    await begun
    await vi.advanceTimersByTimeAsync(20_000)
    finish()
    await first
    await vi.advanceTimersByTimeAsync(300_000)
    expect(renew).toHaveBeenCalledTimes(1)
  })

  it('that can’t be renewed for a moment goes on', async () => {
    const memory = memoryStore()
    const renew = vi
      .fn(memory.renew)
      .mockRejectedValueOnce(new Error('away'))
      .mockRejectedValueOnce(new Error('away'))
    const { host, begun, finish } = longWork({ ...memory, renew })
    const first = deliver(host.handle, created, { id })
    const signal = await begun
    await vi.advanceTimersByTimeAsync(50_000)
    expect(renew).toHaveBeenCalledTimes(2)
    expect(signal.aborted).toBe(false)
    finish()
    expect((await first).status).toBe(200)
  })

  it.each([
    { how: 'is lost to another', renew: async () => false, after: 20_000 },
    {
      how: 'can’t be renewed until it is over',
      renew: () => Promise.reject(new Error('gone')),
      after: 60_000,
    },
  ])('where it $how ends the work, and nothing is published', async ({ renew, after }) => {
    const { host, begun } = longWork({ ...memoryStore(), renew })
    const first = deliver(host.handle, created, { id })
    const signal = await begun
    await vi.advanceTimersByTimeAsync(after - 1)
    expect(signal.aborted).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    expect(signal.aborted).toBe(true)
    expect((await first).body).toMatchObject({ retryable: true })
    expect(host.told()).toEqual(['PUT /deployments/dep_1/status deploying'])
    expect(host.platform.deployments.get('dep_1')?.outputs).toEqual({})
  })
})
