/** The claim of an event while its handler works. The random lives in `lives/` show what a holder does that lost it. */
import { type DeliveryStore, type HandlerContext, IntegrationError, memoryStore } from '@org/core'
import { deliver } from '@org/core/testing'
import { afterEach, describe, expect, it, vi } from 'vitest'
import {
  created,
  createHost,
  deleted,
  greet,
  inFakeTime,
  outputs,
  type ProviderCall,
  unreachableStore,
} from './fixtures.ts'

const id = 'evt_1'
const LEASE_MS = 30_000
const url = 'http://provider.test'
const ok = async () => new Response()

/** A provider that is called over HTTP. */
const requesting =
  (method: string) =>
  async (_: ProviderCall, { fetch, signal }: HandlerContext) =>
    void (await fetch(url, { method, signal }))

/** A store that does something after each step. */
function storeThat(then: () => unknown): DeliveryStore {
  const memory = memoryStore()
  return { ...memory, advance: (...step) => memory.advance(...step).finally(then) }
}

afterEach(() => void vi.useRealTimers())

describe('nothing leaves the host', () => {
  async function expectRefusal(code: string, options: Parameters<typeof createHost>[0]) {
    const fetch = vi.fn(ok)
    const host = createHost({ fetch, ...options })
    expect((await deliver(host.handle, greet, { id })).body).toMatchObject({ code, retryable: true })
    expect(fetch).not.toHaveBeenCalled()
  }

  it('after the store has refused a step, also if the handler did not notice', () => {
    const provider = async (call: ProviderCall, context: HandlerContext) => {
      const written = context.progress?.write('call 1', 'begun')
      await expect(written).rejects.toMatchObject({ code: 'delivery_in_progress' })
      await requesting('GET')(call, context)
    }
    const store = { ...memoryStore(), advance: async () => false }
    return expectRefusal('delivery_in_progress', { store, provider })
  })

  it('if the caller gave up while the intent was recorded', () => {
    const patience = new AbortController()
    const provider = async (_: ProviderCall, { fetch }: HandlerContext) =>
      void (await fetch(url, { method: 'POST', signal: patience.signal }))
    return expectRefusal('provider_timeout', { store: storeThat(() => patience.abort()), provider })
  })

  it('once a handler has answered that did not wait for its call', async () => {
    const back = Promise.withResolvers<void>()
    const fetch = vi.fn(ok)
    let stray: Promise<unknown> | undefined
    const host = createHost({
      store: storeThat(() => back.promise),
      async provider(_, context) {
        stray = context.fetch(url, { method: 'POST' }).catch((error: unknown) => error)
        throw new IntegrationError('provider_error', 'It is away.')
      },
      fetch,
    })
    expect((await inFakeTime(() => deliver(host.handle, greet, { id }))).status).toBe(502)
    back.resolve()
    expect(await stray).toMatchObject({ code: 'delivery_in_progress' })
    expect(fetch).not.toHaveBeenCalled()
  })
})

it('no timer runs after an event', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] })
  const host = createHost()
  for (const event of [created, greet, deleted]) await deliver(host.handle, event, { id: event.name })
  expect(vi.getTimerCount()).toBe(0)
})

describe('the intent to change something', () => {
  it.each([
    ['POST', ['@intent', 'call', 'call']],
    ['GET', ['call', 'call']],
  ])('is recorded once, before the first %s is sent, and not for a callback', async (method, expected) => {
    const memory = memoryStore()
    const taken: string[] = []
    const store: DeliveryStore = {
      ...memory,
      async advance(lease, steps) {
        taken.push(...Object.keys(steps))
        return memory.advance(lease, steps)
      },
    }
    const host = createHost({
      async provider(_, context) {
        context.log.info('This goes to the platform.')
        await context.fetch(new Request(url, { method }))
        await context.fetch(url, { method })
      },
      store,
      async fetch() {
        taken.push('call')
        return new Response()
      },
    })
    await deliver(host.handle, { ...greet, deployment: { id: 'dep_1', outputs } }, { id })
    expect([taken, host.writes()]).toEqual([expected, ['POST /deployments/dep_1/logs']])
  })
})

describe('the claim of long work', () => {
  /** Starts an event whose provider works until its signal aborts, or the test lets it finish. */
  async function startLongWork(event: object, store: Partial<DeliveryStore> = {}, fetch = ok) {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'Date'] })
    const [begun, finished] = [Promise.withResolvers<AbortSignal>(), Promise.withResolvers<void>()]
    const host = createHost({
      store: { ...memoryStore(), ...store },
      timeoutMs: 600_000,
      fetch,
      async provider(call, context) {
        const { signal } = context
        signal.addEventListener('abort', () => finished.resolve())
        if (event === greet) await requesting('POST')(call, context)
        begun.resolve(signal)
        await finished.promise
        signal.throwIfAborted()
      },
    })
    const response = deliver(host.handle, event, { id })
    const signal = await begun.promise
    /** The claim lasts for so long, and no longer. */
    async function expectLoss(milliseconds: number) {
      await vi.advanceTimersByTimeAsync(milliseconds - 1)
      expect(signal.aborted).toBe(false)
      await vi.advanceTimersByTimeAsync(1)
      expect(signal.aborted).toBe(true)
      expect((await response).body).toMatchObject({ code: 'delivery_in_progress' })
    }
    return { host, response, finish: finished.resolve, expectLoss }
  }

  it('is renewed until the work ends, so that no other delivery takes it over', async () => {
    const { host, response, finish } = await startLongWork(greet)
    await vi.advanceTimersByTimeAsync(300_000)
    expect((await deliver(host.handle, greet, { id })).body).toMatchObject({ code: 'delivery_in_progress' })
    finish()
    expect((await response).status).toBe(200)
  })

  it('ends with the lease that the store gave, however late the answer to its renewal was', async () => {
    const memory = memoryStore({ now: () => Date.now() })
    const renew = vi.fn(unreachableStore.renew).mockImplementationOnce(async (...lease) => {
      const kept = await memory.renew(...lease)
      vi.setSystemTime(Date.now() + (2 / 3) * LEASE_MS)
      return kept
    })
    const { expectLoss } = await startLongWork(created, { ...memory, renew })
    await expectLoss((2 / 3) * LEASE_MS)
  })

  it.each<[string, DeliveryStore['renew'], number]>([
    ['another holder takes it over', async () => false, LEASE_MS / 3],
    ['it can’t be renewed in time', unreachableStore.renew, LEASE_MS],
  ])(
    'ends if %s: nothing is published, and a change that left is never repeated',
    async (_, renew, after) => {
      const creation = await startLongWork(created, { renew })
      await creation.expectLoss(after)
      expect(creation.host.writes()).toEqual(['PUT /deployments/dep_1/status deploying'])

      const fetch = vi.fn(ok)
      // The store still takes writes: only the host believes that the lease is over.
      const call = await startLongWork(greet, { ...memoryStore({ now: () => 0 }), renew }, fetch)
      await call.expectLoss(after)
      const unknown = { status: 409, body: { code: 'outcome_unknown', retryable: false } }
      await expect.poll(() => deliver(call.host.handle, greet, { id })).toMatchObject(unknown)
      expect(fetch).toHaveBeenCalledTimes(1)
    },
  )
})
