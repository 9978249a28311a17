import { getEventListeners } from 'node:events'
import {
  createWebhookHandler,
  type DeliveryStore,
  type HandlerContext,
  IntegrationError,
  memoryStore,
  type Platform,
} from '@org/core'
import type { Json } from '@org/core/internal'
import { connectPlatform, createPlatformEmulator, deliver } from '@org/core/testing'
import { afterEach, describe, expect, it, vi } from 'vitest'
import * as z from 'zod'
import {
  bare,
  clock,
  created,
  createHost,
  deleted,
  greet,
  greeter,
  inFakeTime,
  outputs,
  type ProviderCall,
  unreachableStore,
} from './fixtures.ts'

const id = 'evt_1'
const LEASE_MS = 30_000
const ok = async () => new Response()

/** A provider that is called over HTTP. */
const requesting =
  (method: string) =>
  async (_: ProviderCall, { fetch }: HandlerContext) =>
    void (await fetch('http://provider.test', { method }))

afterEach(() => void vi.useRealTimers())

describe('a holder that vanished', () => {
  /** A host on a store in which a holder has claimed a subject, recorded progress, and vanished. */
  async function abandoned(subject: string, progress: Record<string, Json> = {}) {
    const { now, pass } = clock()
    const store = memoryStore({ now })
    const result = await store.claim({ subject, leaseMs: LEASE_MS })
    if (result.state === 'claimed') await store.advance(result.lease, progress)
    pass(LEASE_MS)
    return createHost({ store })
  }

  it.each([
    ['greeter/delivery/evt_1', greet],
    ['greeter/deployment/dep_1', created],
    ['greeter/deployment/dep_1', deleted],
  ])('before it sent anything leaves %s to the next delivery', async (subject, event) => {
    const host = await abandoned(subject)
    expect((await deliver(host.handle, event, { id })).status).toBe(200)
    expect(host.providerCalls).toHaveLength(1)
  })

  it('during a request leaves outcome_unknown, and the call is not made again', async () => {
    const host = await abandoned('greeter/delivery/evt_1', { '@intent': true })
    for (const replayed of [null, 'true']) {
      const response = await deliver(host.handle, greet, { id })
      expect(response).toMatchObject({ status: 409, body: { code: 'outcome_unknown', retryable: false } })
      expect(response.headers.get('idempotency-replayed')).toBe(replayed)
    }
    expect(host.providerCalls).toEqual([])
  })
})

describe('a claim', () => {
  const forever = new Promise<never>(() => {})

  it('is given back when the process ends before the event, unless something may have been sent', async () => {
    const store = memoryStore()
    const ending = new AbortController()
    const begin = (id: string, provider: Parameters<typeof createHost>[0] = {}) => {
      const host = createHost({ store, ending: ending.signal, ...provider })
      void deliver(host.handle, greet, { id })
      return expect.poll(async () => (await store.read(`greeter/delivery/${id}`))?.progress)
    }
    await begin('idle', { provider: () => forever }).toEqual({})
    const sending = { provider: requesting('POST'), fetch: () => forever }
    await begin('sending', sending).toEqual({ '@intent': true })
    const writing = async (_: ProviderCall, { progress }: HandlerContext) => {
      await progress?.write('call 1', 'begun')
      await forever
    }
    await begin('in a batch', { provider: writing }).toEqual({ 'call 1': 'begun' })
    ending.abort()
    await expect.poll(async () => (await store.read('greeter/delivery/idle'))?.leaseMs).toBe(undefined)
    for (const id of ['sending', 'in a batch'])
      expect((await store.read(`greeter/delivery/${id}`))?.leaseMs).toBeGreaterThan(0)
  })

  it('that was given back lets nothing leave any more', async () => {
    const ending = new AbortController()
    const fetch = vi.fn(ok)
    const provider = async (call: ProviderCall, context: HandlerContext) => {
      ending.abort()
      await requesting('GET')(call, context)
    }
    const host = createHost({ ending: ending.signal, provider, fetch })
    expect((await deliver(host.handle, greet, { id })).body).toMatchObject({ code: 'delivery_in_progress' })
    expect(fetch).not.toHaveBeenCalled()
  })

  it('leaves no listener and no timer in a host that goes on', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] })
    const ending = new AbortController()
    const host = createHost({ ending: ending.signal })
    for (const event of [created, greet, deleted]) await deliver(host.handle, event, { id: event.name })
    expect([getEventListeners(ending.signal, 'abort'), vi.getTimerCount()]).toEqual([[], 0])
  })
})

describe('the intent to change something', () => {
  it.each(['POST', 'PUT', 'PATCH', 'DELETE', 'GET'])(
    'is recorded before a %s is sent, but not for a GET or a callback',
    async (method) => {
      const url = 'http://provider.test'
      const calls: Parameters<typeof fetch>[] = [[url, { method }], [new Request(url, { method })]]
      for (const call of calls) {
        const memory = memoryStore()
        const advance = vi.fn(memory.advance)
        const recorded: unknown[] = []
        const record = () => recorded.push(advance.mock.calls.map(([, steps]) => steps))
        const host = createHost({
          async provider(_, context) {
            context.log.info('This goes to the platform.')
            await context.fetch(...call)
          },
          store: { ...memory, advance },
          fetch: async () => {
            record()
            return new Response()
          },
        })
        expect(
          (await deliver(host.handle, { ...greet, deployment: { id: 'dep_1', outputs } }, { id })).status,
        ).toBe(200)
        record()
        const expected = method === 'GET' ? [] : [{ '@intent': true }]
        expect([recorded, host.writes()]).toEqual([[expected, expected], ['POST /deployments/dep_1/logs']])
      }
    },
  )

  it('stops the call with a retryable problem, within the time of the event, if it can’t be recorded', async () => {
    const fetch = vi.fn(ok)
    const store = { ...memoryStore(), advance: unreachableStore.advance }
    const host = createHost({ provider: requesting('POST'), store, fetch })
    const { response, milliseconds } = await inFakeTime(async () => {
      const began = Date.now()
      const response = await deliver(host.handle, greet, { id })
      return { response, milliseconds: Date.now() - began }
    })
    expect(response).toMatchObject({ status: 503, body: { code: 'overloaded' } })
    expect(milliseconds).toBeLessThan(25_000)
    expect(fetch).not.toHaveBeenCalled()
  })

  it('lets no call leave that its handler did not wait for', async () => {
    const memory = memoryStore()
    const back = Promise.withResolvers<void>()
    const fetch = vi.fn(ok)
    let stray: Promise<unknown> | undefined
    const host = createHost({
      store: { ...memory, advance: (...step) => back.promise.then(() => memory.advance(...step)) },
      async provider(_, context) {
        stray = context.fetch('http://provider.test', { method: 'POST' }).catch((error: unknown) => error)
        throw new IntegrationError('provider_error', 'It is away.')
      },
      fetch,
    })
    expect((await inFakeTime(() => deliver(host.handle, greet, { id }))).status).toBe(502)
    back.resolve()
    expect(await stray).toMatchObject({ code: 'delivery_in_progress' })
    expect(fetch).not.toHaveBeenCalled()
  })

  it('is taken back if the caller gave up while it was recorded, and nothing is sent', async () => {
    const store = memoryStore()
    const patience = new AbortController()
    const fetch = vi.fn(ok)
    const host = createHost({
      store: { ...store, advance: (...step) => store.advance(...step).finally(() => patience.abort()) },
      provider: async (_, context) =>
        void (await context.fetch('http://provider.test', { method: 'POST', signal: patience.signal })),
      fetch,
    })
    const response = await deliver(host.handle, greet, { id })
    expect(response).toMatchObject({ status: 504, body: { code: 'provider_timeout', retryable: true } })
    expect(fetch).not.toHaveBeenCalled()
    expect((await store.read('greeter/delivery/evt_1'))?.progress).toEqual({ '@intent': null })
  })

  it('stays if the host can’t record the result of a call that left: it is not repeated', async () => {
    const fetch = vi.fn(ok)
    const sendGreeting = { ...greeter.functions.sendGreeting, result: z.any() }
    const handle = createWebhookHandler(
      { ...bare, events: ['FUNCTION_CALL'], functions: { sendGreeting } },
      {
        functions: {
          async sendGreeting(_: unknown, context: HandlerContext) {
            await context.fetch('http://provider.test', { method: 'POST' })
            // No JSON has it.
            return 1n
          },
        },
      },
      { platform: connectPlatform(createPlatformEmulator().fetch), fetch, logger: () => {} },
    )
    await deliver(handle, greet, { id })
    expect(await deliver(handle, greet, { id })).toMatchObject({
      status: 409,
      body: { code: 'outcome_unknown', retryable: false },
    })
    expect(fetch).toHaveBeenCalledTimes(1)
  })

  it('is taken back at a retryable failure, so that a later crash leaves nothing unknown', async () => {
    const { now, pass } = clock()
    const store = memoryStore({ now })
    const limited = createHost({
      now,
      store,
      async provider(call, context) {
        await requesting('POST')(call, context)
        throw new IntegrationError('provider_rate_limited', 'Too fast.')
      },
      fetch: ok,
    })
    expect((await deliver(limited.handle, greet, { id })).status).toBe(429)
    // The next holder dies before it sends anything.
    await store.claim({ subject: 'greeter/delivery/evt_1', leaseMs: LEASE_MS })
    pass(LEASE_MS)
    expect((await deliver(createHost({ now, store }).handle, greet, { id })).status).toBe(200)
  })
})

describe('a step that the store refuses', () => {
  it('ends the work, also if its handler does not notice', async () => {
    const fetch = vi.fn(ok)
    const host = createHost({
      store: { ...memoryStore(), advance: async () => false },
      async provider(call, context) {
        await context.progress?.write('call 1', 'begun').catch(() => {})
        await requesting('GET')(call, context)
      },
      fetch,
    })
    expect((await deliver(host.handle, greet, { id })).body).toMatchObject({ code: 'delivery_in_progress' })
    expect(fetch).not.toHaveBeenCalled()
  })
})

describe('a process that was stopped for longer than its lease', () => {
  const lost = { status: 409, body: { code: 'delivery_in_progress', retryable: true } }

  it('sends no request after it recorded the intent', async () => {
    const { now, pass } = clock()
    const memory = memoryStore({ now })
    const fetch = vi.fn(ok)
    const store: DeliveryStore = {
      ...memory,
      advance: (...step) => memory.advance(...step).finally(() => pass(2 * LEASE_MS)),
    }
    const host = createHost({ now, provider: requesting('POST'), store, fetch })
    expect(await deliver(host.handle, greet, { id })).toMatchObject(lost)
    expect(fetch).not.toHaveBeenCalled()
  })

  it('answers delivery_in_progress, also if the signal ends its own work', async () => {
    const { now, pass } = clock()
    const host = createHost({
      now,
      store: memoryStore({ now }),
      async provider(call, context) {
        pass(LEASE_MS)
        await requesting('POST')(call, context).catch(() => {})
        context.signal.throwIfAborted()
      },
    })
    expect(await deliver(host.handle, created, { id })).toMatchObject(lost)
  })

  it.each([LEASE_MS, 900])(
    'publishes as long as its lease of %i ms lasts, and nothing after it',
    async (leaseMs) => {
      for (const isLost of [false, true]) {
        const { now, pass } = clock()
        const provider = async () => pass(isLost ? leaseMs : leaseMs - 1)
        const setOutputs = vi.fn<Platform['setOutputs']>(async () => 'accepted')
        const platform = { ...connectPlatform(createPlatformEmulator().fetch), setOutputs }
        const host = createHost({ now, leaseMs, provider, platform, store: memoryStore({ now }) })
        expect((await deliver(host.handle, created, { id })).status).toBe(isLost ? 409 : 200)
        expect(setOutputs).toHaveBeenCalledTimes(isLost ? 0 : 1)
      }
    },
  )
})

describe('the claim of long work', () => {
  /** Starts an event whose provider works until its signal aborts, or the test lets it finish. */
  async function startLongWork(event: object, store: Partial<DeliveryStore>) {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'Date'] })
    const [begun, finished] = [Promise.withResolvers<AbortSignal>(), Promise.withResolvers<void>()]
    const host = createHost({
      store: { ...memoryStore(), ...store },
      timeoutMs: 600_000,
      async provider(_, { signal }) {
        begun.resolve(signal)
        signal.addEventListener('abort', () => finished.resolve())
        await finished.promise
      },
    })
    const response = deliver(host.handle, event, { id })
    return { host, response, signal: await begun.promise, finish: finished.resolve }
  }

  it('is renewed until the work ends, so that no other delivery takes it over', async () => {
    const memory = memoryStore()
    const renew = vi.fn(memory.renew)
    const { host, response, finish } = await startLongWork(greet, { ...memory, renew })
    await vi.advanceTimersByTimeAsync(300_000)
    expect((await deliver(host.handle, greet, { id })).body).toMatchObject({ code: 'delivery_in_progress' })
    finish()
    expect((await response).status).toBe(200)
    const renewals = renew.mock.calls.length
    await vi.advanceTimersByTimeAsync(300_000)
    expect(renew).toHaveBeenCalledTimes(renewals)
  })

  it('outlives renewals that fail for a moment', async () => {
    const memory = memoryStore()
    const renew = vi.fn(memory.renew)
    renew.mockRejectedValueOnce(new Error('away')).mockRejectedValueOnce(new Error('away'))
    const { response, signal, finish } = await startLongWork(created, { ...memory, renew })
    await vi.advanceTimersByTimeAsync(LEASE_MS - 5_000)
    expect([renew.mock.calls.length, signal.aborted]).toEqual([2, false])
    finish()
    expect((await response).status).toBe(200)
  })

  it.each([
    ['a claim', 1],
    ['a renewal', 2],
  ])('ends with the lease that the store gave, however late the answer to %s was', async (late, ticks) => {
    const memory = memoryStore({ now: () => Date.now() })
    const answerLate = async <Result>(asked: Promise<Result>) => {
      const result = await asked
      vi.setSystemTime(Date.now() + (2 / 3) * LEASE_MS)
      return result
    }
    const renew = vi.fn(unreachableStore.renew)
    if (late === 'a renewal') renew.mockImplementationOnce((...lease) => answerLate(memory.renew(...lease)))
    const claim: DeliveryStore['claim'] = (request) =>
      late === 'a claim' ? answerLate(memory.claim(request)) : memory.claim(request)
    const { host, response, signal } = await startLongWork(created, { ...memory, claim, renew })
    await vi.advanceTimersByTimeAsync((ticks * LEASE_MS) / 3 - 1)
    expect(signal.aborted).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    expect(signal.aborted).toBe(true)
    expect((await response).body).toMatchObject({ retryable: true })
    expect(host.record()?.outputs).toEqual({})
  })

  const losses: [string, DeliveryStore['renew'], number][] = [
    ['another holder takes it over', async () => false, LEASE_MS / 3],
    ['it can’t be renewed in time', unreachableStore.renew, LEASE_MS],
  ]

  it.each(losses)('never repeats a change that was under way when %s', async (_, renew, after) => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'Date'] })
    const begun = Promise.withResolvers<void>()
    const fetch = vi.fn<typeof globalThis.fetch>((_, init) => {
      begun.resolve()
      return new Promise((_, reject) =>
        init?.signal?.addEventListener('abort', () => reject(init.signal?.reason)),
      )
    })
    // The store still takes writes: only the host believes that the lease is over.
    const store = { ...memoryStore({ now: () => 0 }), renew }
    const provider = async (_: ProviderCall, { fetch, signal }: HandlerContext) =>
      void (await fetch('http://provider.test', { method: 'POST', signal }))
    const host = createHost({ store, fetch, provider, timeoutMs: 600_000 })
    const response = deliver(host.handle, greet, { id })
    await begun.promise
    await vi.advanceTimersByTimeAsync(after)
    expect((await response).body).toMatchObject({ code: 'delivery_in_progress' })
    const unknown = { status: 409, body: { code: 'outcome_unknown', retryable: false } }
    await expect.poll(() => deliver(host.handle, greet, { id })).toMatchObject(unknown)
    expect(fetch).toHaveBeenCalledTimes(1)
  })

  it.each(losses)('ends the work if %s, and nothing is published', async (_, renew, after) => {
    const { host, response, signal } = await startLongWork(created, { renew })
    await vi.advanceTimersByTimeAsync(after - 1)
    expect(signal.aborted).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    expect(signal.aborted).toBe(true)
    expect((await response).body).toMatchObject({ retryable: true })
    expect(host.writes()).toEqual(['PUT /deployments/dep_1/status deploying'])
    expect(host.record()?.outputs).toEqual({})
  })
})
