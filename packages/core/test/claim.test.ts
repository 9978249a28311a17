/**
 * The claim of an event while its handler works, and a store that is away or slow. The random lives in `lives/` show
 * what a holder does that lost its claim, and a store that fails at any write.
 */
import { type DeliveryStore, type HandlerContext, IntegrationError, memoryStore } from '@org/core'
import { deliver } from '@org/core/testing'
import { afterEach, describe, expect, it, vi } from 'vitest'
import {
  calling,
  clock,
  created,
  createHost,
  deleted,
  deployment,
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
const inProgress = { code: 'delivery_in_progress', retryable: true }
const overloaded = { code: 'overloaded', retryable: true }

const pause = (milliseconds: number) => new Promise<void>((resolve) => setTimeout(resolve, milliseconds))

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

/** Delivers an event in fake time, and measures it. */
async function timed(host: ReturnType<typeof createHost>, event: object) {
  return inFakeTime(async () => {
    const began = Date.now()
    const { body } = await deliver(host.handle, event, { id })
    return { body, milliseconds: Date.now() - began }
  })
}

afterEach(() => void vi.useRealTimers())

describe('nothing leaves the host', () => {
  it('after the store has refused a step, also if the handler did not notice', async () => {
    const fetch = vi.fn(ok)
    const provider = async (call: ProviderCall, context: HandlerContext) => {
      await expect(context.progress?.write('call 1', 'begun')).rejects.toMatchObject(inProgress)
      await requesting('GET')(call, context)
    }
    const host = createHost({ fetch, provider, store: { ...memoryStore(), advance: async () => false } })
    expect((await deliver(host.handle, greet, { id })).body).toMatchObject(inProgress)
    expect(fetch).not.toHaveBeenCalled()
  })

  it('if the caller gave up while the intent was recorded', async () => {
    const fetch = vi.fn(ok)
    const patience = new AbortController()
    const provider = async (_: ProviderCall, { fetch }: HandlerContext) =>
      void (await fetch(url, { method: 'POST', signal: patience.signal }))
    const host = createHost({ fetch, provider, store: storeThat(() => patience.abort()) })
    const { body } = await deliver(host.handle, greet, { id })
    expect(body).toMatchObject({ code: 'provider_timeout', retryable: true })
    expect(fetch).not.toHaveBeenCalled()
  })

  it('once a handler has answered that did not wait for its call', async () => {
    const fetch = vi.fn(ok)
    const back = Promise.withResolvers<void>()
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
    expect(await stray).toMatchObject(inProgress)
    expect(fetch).not.toHaveBeenCalled()
  })
})

it('no timer runs after an event', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] })
  const host = createHost()
  for (const event of [created, greet, deleted]) await deliver(host.handle, event, { id: event.name })
  expect(vi.getTimerCount()).toBe(0)
})

it.each([
  ['POST', ['@intent', 'call', 'call']],
  ['GET', ['call', 'call']],
])(
  'the intent to change something is recorded once, before the first %s, and not for a callback',
  async (...row) => {
    const [method, expected] = row
    const memory = memoryStore()
    const taken: string[] = []
    const host = createHost({
      async provider(_, context) {
        context.log.info('This goes to the platform.')
        await context.fetch(new Request(url, { method }))
        await context.fetch(url, { method })
      },
      store: {
        ...memory,
        async advance(lease, steps) {
          taken.push(...Object.keys(steps))
          return memory.advance(lease, steps)
        },
      },
      async fetch() {
        taken.push('call')
        return new Response()
      },
    })
    await deliver(host.handle, { ...greet, deployment: { id: 'dep_1', outputs } }, { id })
    expect([taken, host.writes()]).toEqual([expected, ['POST /deployments/dep_1/logs']])
  },
)

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
      expect((await response).body).toMatchObject(inProgress)
    }
    return { host, response, finish: finished.resolve, expectLoss }
  }

  it('is renewed until the work ends, so that no other delivery takes it over', async () => {
    const { host, response, finish } = await startLongWork(greet)
    await vi.advanceTimersByTimeAsync(300_000)
    expect((await deliver(host.handle, greet, { id })).body).toMatchObject(inProgress)
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

describe('a store that can’t be reached', () => {
  it('stops every event with an effect before the effect, and no other one', async () => {
    const host = createHost({ store: unreachableStore })
    for (const event of [created, deleted, greet]) {
      const { status, body, headers } = await deliver(host.handle, event, { id })
      expect([status, body, headers.get('retry-after')]).toMatchObject([503, overloaded, '5'])
    }
    expect([host.providerCalls, host.writes()]).toEqual([[], []])
    const facts = { code: 'overloaded', reason: 'connect ECONNREFUSED' }
    expect(host.lines).toMatchObject(Array(3).fill({ level: 'error', facts }))
    const others = ['WEBHOOK_CHALLENGE', 'HEALTH_CHECK', 'METRIC_UPDATE', 'DOWNLOAD_STARTED']
    for (const event of [...others.map((name) => ({ name, deployment })), calling('count')])
      expect((await deliver(host.handle, event, { id })).status).toBe(200)
  })

  it.each<[string, number, Partial<DeliveryStore>]>([
    ['hangs', 4_000, { claim: (request) => pause(2_000).then(() => unreachableStore.claim(request)) }],
    ['reserves nothing', 25_000, { reserve: unreachableStore.reserve }],
  ])('ends an event in its time, also if it %s', async (_, limit, broken) => {
    const provider = async (_: ProviderCall, { progress }: HandlerContext) =>
      void (await progress?.reserve('thing/1'))
    const store = { ...memoryStore(), ...broken }
    const { body, milliseconds } = await timed(
      createHost({ provider, store, now: () => Date.now() }),
      created,
    )
    expect([body, milliseconds < limit]).toMatchObject([overloaded, true])
  })

  it('for a second look at a replay leaves it as it is recorded', async () => {
    const host = createHost({ store: { ...memoryStore(), read: unreachableStore.read } })
    for (const _ of ['first', 'replayed'])
      expect((await deliver(host.handle, created, { id })).body).toMatchObject({ status: 'running' })
    expect(host.providerCalls).toHaveLength(1)
  })
})

describe('the end of an event', () => {
  type Complete = (memory: DeliveryStore) => DeliveryStore['complete']
  const slow =
    (milliseconds: number): Complete =>
    (memory) =>
    (...written) =>
      pause(milliseconds).then(() => memory.complete(...written))
  const away: Complete = () => unreachableStore.complete
  const lost: Complete = () => async () => false
  const unanswered: Complete = (memory) =>
    vi.fn(memory.complete).mockImplementationOnce(async (...written) => {
      await memory.complete(...written)
      throw new Error('The answer was lost.')
    })
  const sent = { result: { id: 'greeting-to-Ada' } }
  const stopped = { status: 'stopped' }

  it.each<[string, object, Complete, object, object]>([
    ['waits for a store that is slow', greet, slow(300), sent, sent],
    // The lease prevents a second effect.
    ['of a call waits only for a moment', greet, away, sent, inProgress],
    ['of a deployment event has the time that is left', deleted, slow(5_000), stopped, stopped],
    [
      'of a deletion is recorded once if the first answer of the store is lost',
      deleted,
      unanswered,
      stopped,
      stopped,
    ],
    // Nothing else keeps a late creation away.
    ['of a creation fails if it is not recorded', created, away, overloaded, inProgress],
    ['of a deletion fails if it is not recorded', deleted, away, overloaded, inProgress],
    ['of a deletion fails if the claim was lost', deleted, lost, inProgress, inProgress],
  ])('%s', async (_, event, complete, first, again) => {
    const memory = memoryStore()
    const host = createHost({ store: { ...memory, complete: complete(memory) } })
    const { body, milliseconds } = await timed(host, event)
    expect([body, event !== greet || milliseconds < 2_000]).toMatchObject([first, true])
    const isLate = JSON.stringify(host.lines).includes('The response was not recorded in time.')
    expect(isLate).toBe(complete === away)
    expect((await deliver(host.handle, event, { id })).body).toMatchObject(again)
    expect(host.providerCalls).toHaveLength(1)
  })

  it('is delivery_in_progress if the first request to the store is lost, and then the lease', async () => {
    const { now, pass } = clock()
    const memory = memoryStore({ now })
    const complete = vi.fn<DeliveryStore['complete']>(async (...written) => {
      pass(LEASE_MS)
      return memory.complete(...written)
    })
    complete.mockImplementationOnce(unreachableStore.complete)
    const host = createHost({ now, store: { ...memory, complete } })
    expect((await timed(host, deleted)).body).toMatchObject(inProgress)
  })
})
