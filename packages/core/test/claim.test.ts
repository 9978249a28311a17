/**
 * The claim of an event while its handler works, and a store that is away or slow. The random lives in `lives/` show
 * what a holder does that lost its claim, and a store that fails at any write.
 */
import { type DeliveryStore, type HandlerContext, IntegrationError, memoryStore } from '@org/core'
import { deliver } from '@org/core/testing'
import { afterEach, describe, expect, it, vi } from 'vitest'
import {
  calling,
  created,
  createHost,
  deleted,
  deployment,
  greet,
  type Host,
  inFakeTime,
  outputs,
  type ProviderCall,
  unreachableStore,
} from './fixtures.ts'

const LEASE_MS = 30_000
const url = 'http://provider.test'
const inProgress = { code: 'delivery_in_progress', retryable: true }
const overloaded = { code: 'overloaded', retryable: true }
const fetch = vi.fn(async () => new Response())

const send = (host: Host, event: object) => deliver(host.handle, event, { id: 'evt_1' })
const pause = (milliseconds: number) => new Promise<void>((resolve) => setTimeout(resolve, milliseconds))

/** A provider that makes a change over HTTP. */
const changing = async (_: ProviderCall, { fetch, signal }: HandlerContext) =>
  void (await fetch(url, { method: 'POST', signal }))

/** A provider that records a step, and ends with its time. */
async function recording(_: ProviderCall, { progress, signal }: HandlerContext) {
  const over = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
  await Promise.race([progress?.write('call 1', 'begun'), over])
}

/** A store that does something after each write of steps. */
function storeThat(then: (names: string[]) => unknown): DeliveryStore {
  const memory = memoryStore()
  const advance: DeliveryStore['advance'] = (lease, steps) =>
    memory.advance(lease, steps).finally(() => then(Object.keys(steps)))
  return { ...memory, advance }
}

/** Delivers an event in fake time, and measures it. Time goes on for so many milliseconds after its response. */
const timed = (host: Host, event: object, afterwards = 0) =>
  inFakeTime(async () => {
    const began = Date.now()
    const { body } = await send(host, event)
    const milliseconds = Date.now() - began
    await pause(afterwards)
    return { body, milliseconds }
  })

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
  fetch.mockClear()
})

describe('nothing leaves the host', () => {
  afterEach(() => expect(fetch).not.toHaveBeenCalled())

  it('after the store has refused a step, also if the handler did not notice', async () => {
    async function provider(_: ProviderCall, context: HandlerContext) {
      await expect(context.progress?.write('call 1', 'begun')).rejects.toMatchObject(inProgress)
      await context.fetch(url)
    }
    const host = createHost({ fetch, provider, store: { ...memoryStore(), advance: async () => false } })
    expect((await send(host, greet)).body).toMatchObject(inProgress)
  })

  it('if the caller gave up while the intent was recorded', async () => {
    const patience = new AbortController()
    const provider = async (_: ProviderCall, context: HandlerContext) =>
      void (await context.fetch(url, { method: 'POST', signal: patience.signal }))
    const host = createHost({ fetch, provider, store: storeThat(() => patience.abort()) })
    expect((await send(host, greet)).body).toMatchObject({ code: 'provider_timeout', retryable: true })
  })

  it('once a handler has answered that did not wait for its call', async () => {
    const back = Promise.withResolvers<void>()
    let stray: Promise<unknown> | undefined
    async function provider(_: ProviderCall, context: HandlerContext) {
      stray = context.fetch(url, { method: 'POST' }).catch((error: unknown) => error)
      throw new IntegrationError('provider_error', 'It is away.')
    }
    const host = createHost({ fetch, provider, store: storeThat(() => back.promise) })
    expect((await timed(host, greet)).body).toMatchObject({ code: 'provider_error' })
    back.resolve()
    expect(await stray).toMatchObject(inProgress)
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
])('before the first %s, and not for a callback, these are recorded: %j', async (method, expected) => {
  const taken: string[] = []
  const host = createHost({
    store: storeThat((names) => taken.push(...names)),
    async provider(_, context) {
      context.log.info('This goes to the platform.')
      await context.fetch(new Request(url, { method }))
      await context.fetch(url, { method })
    },
    async fetch() {
      taken.push('call')
      return new Response()
    },
  })
  await send(host, { ...greet, deployment: { id: 'dep_1', outputs } })
  expect([taken, host.writes()]).toEqual([expected, ['POST /deployments/dep_1/logs']])
})

describe('the claim of long work', () => {
  /** Starts an event whose provider works until its signal aborts, or the test lets it finish. */
  async function startLongWork(event: object, store: Partial<DeliveryStore> = {}) {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date'] })
    const [begun, finished] = [Promise.withResolvers<AbortSignal>(), Promise.withResolvers<void>()]
    const host = createHost({
      store: { ...memoryStore(), ...store },
      timeoutMs: 600_000,
      fetch,
      async provider({ action }, { signal, fetch }) {
        signal.addEventListener('abort', () => finished.resolve())
        if (action === 'greet') await fetch(url, { method: 'POST', signal })
        begun.resolve(signal)
        await finished.promise
        signal.throwIfAborted()
      },
    })
    const response = send(host, event)
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
    expect((await send(host, greet)).body).toMatchObject(inProgress)
    finish()
    expect((await response).status).toBe(200)
  })

  it('ends with the lease that the store gave, however late the answer to its renewal was', async () => {
    const memory = memoryStore()
    const renew = vi.fn(unreachableStore.renew).mockImplementationOnce(async (...lease) => {
      const kept = await memory.renew(...lease)
      vi.setSystemTime(Date.now() + (2 / 3) * LEASE_MS)
      return kept
    })
    const { expectLoss } = await startLongWork(created, { ...memory, renew })
    await expectLoss((2 / 3) * LEASE_MS)
  })

  it('lasts if the store is back before its lease ends, however often a renewal failed', async () => {
    const memory = memoryStore()
    let isAway = true
    const renew: DeliveryStore['renew'] = (...lease) =>
      isAway ? unreachableStore.renew(...lease) : memory.renew(...lease)
    const { finish, response } = await startLongWork(greet, { ...memory, renew })
    await vi.advanceTimersByTimeAsync(0.7 * LEASE_MS)
    isAway = false
    await vi.advanceTimersByTimeAsync(0.2 * LEASE_MS)
    isAway = true
    await vi.advanceTimersByTimeAsync(0.5 * LEASE_MS)
    finish()
    expect((await response).status).toBe(200)
  })

  it.each<[string, DeliveryStore['renew'], number]>([
    ['another holder takes it over', async () => false, LEASE_MS / 3],
    ['it can’t be renewed in time', unreachableStore.renew, LEASE_MS],
  ])('ends if %s: nothing is published, and a change that left is never repeated', async (...row) => {
    const [, renew, after] = row
    const creation = await startLongWork(created, { renew })
    await creation.expectLoss(after)
    expect(creation.host.writes()).toEqual(['PUT /deployments/dep_1/status deploying'])

    // The store still takes writes: only the host believes that the lease is over.
    const call = await startLongWork(greet, { ...memoryStore({ now: () => 0 }), renew })
    await call.expectLoss(after)
    const unknown = { status: 409, body: { code: 'outcome_unknown', retryable: false } }
    await expect.poll(() => send(call.host, greet)).toMatchObject(unknown)
    expect(fetch).toHaveBeenCalledTimes(1)
  })
})

describe('a store that can’t be reached', () => {
  it('stops every event with an effect before the effect, and no other one', async () => {
    const host = createHost({ store: unreachableStore })
    for (const event of [created, deleted, greet]) {
      const { status, body, headers } = await send(host, event)
      expect([status, body, headers.get('retry-after')]).toMatchObject([503, overloaded, '5'])
    }
    expect([host.providerCalls, host.writes()]).toEqual([[], []])
    const facts = { code: 'overloaded', reason: 'connect ECONNREFUSED' }
    expect(host.lines).toMatchObject(Array(3).fill({ level: 'error', facts }))
    const others = ['WEBHOOK_CHALLENGE', 'HEALTH_CHECK', 'METRIC_UPDATE', 'DOWNLOAD_STARTED']
    for (const event of [...others.map((name) => ({ name, deployment })), calling('count')])
      expect((await send(host, event)).status).toBe(200)
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

  it.each([
    [9, changing],
    [12, recording],
    [40, changing],
  ])('is named as the cause if each answer takes %d s, in the time of the event', async (s, provider) => {
    const memory = memoryStore()
    const late = <Values extends unknown[], Result>(ask: (...values: Values) => Promise<Result>) =>
      vi.fn(async (...values: Values) => pause(s * 1_000).then(() => ask(...values)))
    const store = { claim: late(memory.claim), read: late(memory.read), advance: late(memory.advance) }
    const host = createHost({ fetch, provider, store: { ...memory, ...store }, now: () => Date.now() })
    const { body, milliseconds } = await timed(host, { ...greet, deployment: { id: 'dep_1', outputs } })
    expect([body, milliseconds < 25_000]).toMatchObject([overloaded, true])
    const reason = expect.stringMatching(/^The delivery store did not answer within \d+ ms\.$/)
    expect(host.lines).toMatchObject([{ level: 'warn', facts: { code: 'overloaded', reason } }])
    expect(fetch).not.toHaveBeenCalled()
  })

  it('before a call, until the lease ends, does not leave it unknown', async () => {
    const store = { ...memoryStore(), advance: unreachableStore.advance, renew: unreachableStore.renew }
    // Its signal may end a call before the call tells whether it left.
    const provider = (call: ProviderCall, context: HandlerContext) =>
      new Promise<void>((resolve, reject) => {
        context.signal.addEventListener('abort', () => reject(new Error('It was cut.')))
        changing(call, context).then(resolve, reject)
      })
    const host = createHost({ fetch, provider, store, timeoutMs: 120_000, now: () => Date.now() })
    expect((await timed(host, greet)).body).toMatchObject(overloaded)
    expect(fetch).not.toHaveBeenCalled()
  })

  it('for a second look at a replay leaves it as it is recorded', async () => {
    const host = createHost({ store: { ...memoryStore(), read: unreachableStore.read } })
    for (const _ of ['first', 'replayed'])
      expect((await send(host, created)).body).toMatchObject({ status: 'running' })
    expect(host.providerCalls).toHaveLength(1)
  })
})

describe('the end of an event', () => {
  it('that can’t be encrypted gives the claim back, and a call that left is never repeated', async () => {
    async function provider(call: ProviderCall, context: HandlerContext) {
      await changing(call, context)
      vi.spyOn(crypto, 'getRandomValues').mockImplementationOnce(() => expect.fail('It is broken.'))
    }
    const host = createHost({ fetch, provider })
    for (const code of ['internal_error', 'outcome_unknown'])
      expect((await send(host, greet)).body).toMatchObject({ code })
    expect(fetch).toHaveBeenCalledOnce()
  })

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

  it.each<[string, object, Complete, object, object, string]>([
    ['waits for a store that is slow', greet, slow(300), sent, sent, 'info'],
    ['of a call waits for a moment, and is recorded later', greet, slow(800), sent, sent, 'info'],
    // The lease prevents a second effect.
    ['of a call that is never recorded is an error', greet, away, sent, inProgress, 'error'],
    ['of a deployment event has the time that is left', deleted, slow(5_000), stopped, stopped, 'info'],
    [
      'of a deletion is recorded once if an answer of the store is lost',
      deleted,
      unanswered,
      stopped,
      stopped,
      'error',
    ],
    // Nothing else keeps a late creation away.
    ['of a creation fails if it is not recorded', created, away, overloaded, inProgress, 'error'],
    ['of a deletion fails if it is not recorded', deleted, away, overloaded, inProgress, 'error'],
    ['of a deletion fails if the claim was lost', deleted, lost, inProgress, inProgress, 'warn'],
  ])('%s', async (_, event, complete, first, again, loudest) => {
    const memory = memoryStore()
    const host = createHost({ now: () => Date.now(), store: { ...memory, complete: complete(memory) } })
    const { body, milliseconds } = await timed(host, event, LEASE_MS)
    expect([body, event !== greet || milliseconds < 2_000]).toMatchObject([first, true])
    const levels = host.lines.map(({ level }) => level)
    expect(['info', 'warn', 'error'].findLast((each) => levels.some((level) => level === each))).toBe(loudest)
    const lost = host.lines.filter(({ message }) => message === 'The response was not recorded.')
    expect(lost.map(({ level }) => level)).toEqual(complete === away ? ['error'] : [])
    expect((await send(host, event)).body).toMatchObject(again)
    expect(host.providerCalls).toHaveLength(1)
  })
})
