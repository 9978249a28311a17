import { describe, expect, it, vi } from 'vitest'
import { type DeliveryStore, type HandlerContext, IntegrationError, memoryStore } from '../src/index.ts'
import { deliver } from '../src/testing/index.ts'
import { calling, created, createHost, type ExampleSettings, type ProviderCall } from './example.ts'

const greet = calling('greet', { to: 'Ada' })
const id = 'evt_1'
const LEASE_MS = 60_000

/** A provider that is called over HTTP. */
const post = async (_: ProviderCall, { fetch }: HandlerContext<ExampleSettings>) => {
  await fetch('http://provider.test', { method: 'POST' })
}

/** A clock that a test can let go on. */
function clock() {
  let time = Date.now()
  return {
    now: () => time,
    pass(milliseconds: number) {
      time += milliseconds
    },
  }
}

describe('a process that was stopped for longer than its lease', () => {
  it('between its intent and its call does not make the call any more', async () => {
    const { now, pass } = clock()
    const memory = memoryStore({ now })
    let sent = 0
    const host = createHost({
      now,
      provider: post,
      store: {
        ...memory,
        async advance(lease, progress) {
          const kept = await memory.advance(lease, progress)
          pass(2 * LEASE_MS)
          return kept
        },
      },
      fetch: async () => {
        sent += 1
        return new Response()
      },
    })
    const answer = await deliver(host.handle, greet, { id })
    expect(answer).toMatchObject({ status: 409, body: { code: 'delivery_in_progress', retryable: true } })
    expect(sent).toBe(0)
  })

  it('says so also where its own work is ended by it', async () => {
    const { now, pass } = clock()
    const host = createHost({
      now,
      store: memoryStore({ now }),
      async provider(call, context) {
        pass(LEASE_MS)
        await post(call, context).catch(() => {})
        context.signal.throwIfAborted()
      },
    })
    const answer = await deliver(host.handle, created, { id })
    expect(answer).toMatchObject({ status: 409, body: { code: 'delivery_in_progress' } })
  })

  it('while the provider worked publishes nothing any more', async () => {
    const { now, pass } = clock()
    const host = createHost({ now, provider: async () => pass(LEASE_MS), store: memoryStore({ now }) })
    expect((await deliver(host.handle, created, { id })).status).toBe(409)
    expect(host.told()).toEqual(['PUT /deployments/dep_1/status deploying'])
  })

  it('and not a moment longer goes on', async () => {
    const { now, pass } = clock()
    const host = createHost({ now, provider: async () => pass(LEASE_MS - 1), store: memoryStore({ now }) })
    expect((await deliver(host.handle, created, { id })).status).toBe(200)
  })

  it('may have a shorter lease', async () => {
    const { now, pass } = clock()
    const leased: number[] = []
    const memory = memoryStore({ now })
    const store: DeliveryStore = {
      ...memory,
      claim: (request) => {
        leased.push(request.leaseMs)
        return memory.claim(request)
      },
    }
    const host = createHost({ now, leaseMs: 900, provider: async () => pass(900), store })
    expect((await deliver(host.handle, created, { id })).status).toBe(409)
    expect(leased).toEqual([900])
  })
})

describe('the end of the work', () => {
  it('that could not be recorded is recorded when the store is back, and nothing waits for that', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    try {
      const memory = memoryStore()
      const complete = vi.fn(memory.complete).mockRejectedValueOnce(new Error('away'))
      const host = createHost({ store: { ...memory, complete } })
      expect((await deliver(host.handle, greet, { id })).status).toBe(200)
      expect((await deliver(host.handle, greet, { id })).status).toBe(409)
      await vi.advanceTimersByTimeAsync(1_000)
      const again = await deliver(host.handle, greet, { id })
      expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([200, 'true'])
      await vi.advanceTimersByTimeAsync(10_000)
      expect(complete).toHaveBeenCalledTimes(2)
    } finally {
      vi.useRealTimers()
    }
  })

  it('that may be tried again takes the intent back, so that a later crash leaves nothing to be unsure of', async () => {
    const { now, pass } = clock()
    const memory = memoryStore({ now })
    const failing = createHost({
      now,
      store: memory,
      async provider(call, context) {
        await post(call, context)
        throw new IntegrationError('provider_rate_limited', 'Too fast.')
      },
      fetch: async () => new Response(),
    })
    expect((await deliver(failing.handle, greet, { id })).status).toBe(429)

    // The next holder dies before anything leaves.
    await memory.claim({ subject: 'greeter/delivery/evt_1', leaseMs: LEASE_MS })
    pass(LEASE_MS)
    const host = createHost({ now, store: memory })
    expect((await deliver(host.handle, greet, { id })).status).toBe(200)
  })
})
