/** A delivery store that is away, slow, or loses its answers, under events that must happen once. */
import {
  createWebhookHandler,
  type DeliveryStore,
  defineIntegration,
  functionArguments,
  type HandlerContext,
  type Handlers,
  IntegrationError,
  memoryStore,
} from '@org/core'
import { connectPlatform, createPlatformEmulator, deliver } from '@org/core/testing'
import * as fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import * as z from 'zod'
import {
  calling,
  clock,
  created,
  createHost,
  deleted,
  deployment,
  greet,
  inFakeTime,
  unreachableStore,
} from './fixtures.ts'
import type { Faults } from './lives/events.ts'
import { HaltingHost } from './lives/halting-host.ts'

const id = 'evt_1'
const LEASE_MS = 30_000

const pause = (milliseconds: number) => new Promise<void>((resolve) => setTimeout(resolve, milliseconds))

/** Does work in fake time, and measures it. */
async function timed<Result>(work: () => Promise<Result>) {
  return inFakeTime(async () => {
    const began = Date.now()
    const result = await work()
    return { result, milliseconds: Date.now() - began }
  })
}

/** The store whose `complete` takes its time. */
function slowToComplete(milliseconds: number): DeliveryStore {
  const memory = memoryStore()
  return { ...memory, complete: (...written) => pause(milliseconds).then(() => memory.complete(...written)) }
}

describe('a store that can’t be reached', () => {
  it('stops every event with an effect before the effect, and no other one', async () => {
    const host = createHost({ store: unreachableStore })
    for (const event of [created, deleted, greet]) {
      const { status, body, headers } = await deliver(host.handle, event, { id })
      expect([status, body, headers.get('retry-after')]).toMatchObject([503, { code: 'overloaded' }, '5'])
    }
    expect([host.providerCalls, host.writes()]).toEqual([[], []])
    const told = host.lines.filter(({ message }) => message === 'The delivery store is unreachable.')
    expect(told).toHaveLength(3)
    for (const name of ['WEBHOOK_CHALLENGE', 'HEALTH_CHECK', 'METRIC_UPDATE', 'DOWNLOAD_STARTED'])
      expect((await deliver(host.handle, { name, deployment }, { id })).status).toBe(200)
    expect((await deliver(host.handle, calling('count'), { id })).status).toBe(200)
  })

  it('refuses an event in a few seconds, also if it hangs', async () => {
    const claim = () => pause(2_000).then(() => Promise.reject(new Error('It did not answer.')))
    const host = createHost({ now: () => Date.now(), store: { ...unreachableStore, claim } })
    const { result, milliseconds } = await timed(() => deliver(host.handle, greet, { id }))
    expect([result.status, milliseconds < 4_000]).toEqual([503, true])
  })

  it.each([
    ['until its lease ends', LEASE_MS + 1_000],
    ['until the host shuts down', LEASE_MS / 10],
  ])('may have given a claim, which is taken back %s', async (_, limitMs) => {
    const stopping = new AbortController()
    const background: Promise<unknown>[] = []
    const waitUntil = (work: Promise<unknown>) => background.push(work)
    const store = unreachableStore
    const host = createHost({ now: () => Date.now(), store, stopping: stopping.signal, waitUntil })
    const { milliseconds } = await timed(async () => {
      await deliver(host.handle, greet, { id })
      if (limitMs < LEASE_MS) stopping.abort()
      await Promise.all(background)
    })
    expect([background.length, milliseconds < limitMs]).toEqual([1, true])
  })

  it('for a second look at a replay leaves it as it is recorded', async () => {
    const host = createHost({ store: { ...memoryStore(), read: unreachableStore.read } })
    for (const _ of ['first', 'replayed'])
      expect((await deliver(host.handle, created, { id })).body).toMatchObject({ status: 'running' })
    expect(host.providerCalls).toHaveLength(1)
  })
})

describe('at the end of a call, a store', () => {
  it.each<[string, DeliveryStore, object, string[]]>([
    ['that is slow is waited for', slowToComplete(300), { status: 200 }, []],
    [
      'that is away holds nothing up, and the lease prevents a second effect',
      { ...memoryStore(), complete: unreachableStore.complete },
      { status: 409, body: { code: 'delivery_in_progress' } },
      ['The delivery store is unreachable.', 'The response was not recorded in time.'],
    ],
  ])('%s', async (_, store, again, told) => {
    const host = createHost({ store })
    const { result, milliseconds } = await timed(() => deliver(host.handle, greet, { id }))
    expect([result.status, milliseconds < 2_000]).toEqual([200, true])
    expect(host.lines.filter(({ level }) => level === 'error').map(({ message }) => message)).toEqual(told)
    expect(await deliver(host.handle, greet, { id })).toMatchObject(again)
    expect(host.providerCalls).toHaveLength(1)
  })
})

describe('the end of a deployment event', () => {
  it.each<[string, DeliveryStore['complete'], string]>([
    ['overloaded', unreachableStore.complete, 'the store is away'],
    ['delivery_in_progress', async () => false, 'the claim was lost'],
  ])(
    'is %s and retryable, because nothing else keeps a late creation away, if %s: %s',
    async (code, complete) => {
      for (const event of [created, deleted]) {
        const { handle } = createHost({ store: { ...memoryStore(), complete } })
        const { body } = await inFakeTime(() => deliver(handle, event, { id }))
        expect(body).toMatchObject({ code, retryable: true })
      }
    },
  )

  it('is delivery_in_progress if its first answer is lost, and then the lease', async () => {
    const { now, pass } = clock()
    const memory = memoryStore({ now })
    const complete = vi.fn<DeliveryStore['complete']>(async (...written) => {
      pass(LEASE_MS)
      return memory.complete(...written)
    })
    complete.mockImplementationOnce(unreachableStore.complete)
    const host = createHost({ now, store: { ...memory, complete } })
    const { body } = await inFakeTime(() => deliver(host.handle, deleted, { id }))
    expect(body).toMatchObject({ code: 'delivery_in_progress' })
  })

  it('has the time that the event has left', async () => {
    const { handle } = createHost({ store: slowToComplete(5_000) })
    expect((await inFakeTime(() => deliver(handle, deleted, { id }))).body).toEqual({ status: 'stopped' })
  })
})

describe('under a store that fails at any write', () => {
  const people = ['Ada', 'Bo', 'Cy']
  const each = {
    description: 'Tells people, each by a call of its own.',
    effectful: true,
    arguments: functionArguments({ to: z.array(z.string()) }),
    result: z.record(z.string(), z.string()),
  }
  const teller = defineIntegration({
    name: 'teller',
    title: 'Teller',
    description: 'Tells people.',
    events: ['FUNCTION_CALL'],
    inputs: z.object({}),
    outputs: z.object({}),
    functions: { tell: each, tellAll: { ...each, resumable: true } },
    metrics: {},
    downloads: [],
  })
  const events = { tell: calling('tell', { to: ['Ada'] }), tellAll: calling('tellAll', { to: people }) }

  async function send(to: string, { fetch }: HandlerContext): Promise<void> {
    await fetch(`http://provider.test/${to}`, { method: 'POST' }).catch((cause: unknown) => {
      if (cause instanceof IntegrationError) throw cause
      throw new IntegrationError('provider_error', 'The provider was not reached.', { cause })
    })
  }

  /** Sends what no earlier attempt sent. What is known of a call counts, whether the store has it yet or not. */
  async function sendOnce(to: string, context: HandlerContext): Promise<[string, string]> {
    const { progress } = context
    const record = progress?.read(to) ?? undefined
    if (record !== undefined) return [to, record === 'begun' ? 'unknown' : 'sent']
    try {
      await progress?.write(to, 'begun')
      await send(to, context)
    } catch (error) {
      await progress?.write(to, null).catch(() => {})
      throw error
    }
    await progress?.write(to, { at: Date.now() }).catch(() => {})
    return [to, 'sent']
  }

  const handlers: Handlers<typeof teller> = {
    functions: {
      async tell({ to: [to = ''] }, context) {
        await send(to, context)
        return { [to]: 'sent' }
      },
      async tellAll({ to }, context) {
        const outcomes = to.map((name) => sendOnce(name, context))
        await Promise.allSettled(outcomes)
        return Object.fromEntries(await Promise.all(outcomes))
      },
    },
  }

  /** A host that may halt for good, and its successor. */
  function createWorld(name: keyof typeof events, faults: Faults, unreached: readonly boolean[] = []) {
    // Not `Date.now` itself, which would stay the real one.
    const now = () => Date.now()
    const memory = memoryStore({ now })
    const host = new HaltingHost(faults, memory)
    const [sent, background]: [string[], Promise<unknown>[]] = [[], []]
    const nextUnreached = [...unreached]

    async function provider(input: Parameters<typeof fetch>[0]) {
      if (nextUnreached.shift()) throw Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })
      sent.push(new URL(String(input)).pathname.slice(1))
      await pause(100)
      return new Response()
    }

    function start(store: DeliveryStore, fetch: typeof globalThis.fetch) {
      const platform = connectPlatform(createPlatformEmulator().fetch)
      const waitUntil = (work: Promise<unknown>) => background.push(work)
      const handle = createWebhookHandler(teller, handlers, {
        ...{ platform, store, fetch, waitUntil, now },
        logger: () => {},
      })
      return async () => {
        const { status, body } = await deliver(handle, events[name], { id })
        return { status, retryable: false, result: {}, ...Object(body) }
      }
    }
    const successor = start(memory, provider)
    return {
      sent,
      halted: host.halted,
      first: start(host.store, host.provider(provider)),
      async takeOver() {
        vi.setSystemTime(Date.now() + LEASE_MS)
        return untilFinal(successor)
      },
      drain: () => Promise.all(background),
    }
  }

  async function untilFinal(deliverOnce: ReturnType<typeof createWorld>['first']) {
    for (;;) {
      const received = await deliverOnce()
      if (!received.retryable) return received
      await pause(2_000)
    }
  }

  const name = fc.constantFrom('tell' as const, 'tellAll' as const)
  const store = fc.record({
    write: fc.integer({ min: 1, max: 8 }),
    times: fc.oneof(fc.integer({ min: 1, max: 4 }), fc.constant(15)),
    fault: fc.constantFrom('lost' as const, 'unanswered' as const, 'late' as const, 'slow' as const),
  })
  const runs = { numRuns: 100 }

  it('every call is made once, and its outcome is known', async () => {
    const unreached = fc.array(fc.boolean(), { maxLength: 4 })
    const property = fc.asyncProperty(
      name,
      store,
      unreached,
      fc.boolean(),
      async (name, store, unreached, restarts) => {
        const { first, drain, takeOver, sent } = createWorld(name, { store }, unreached)
        const { status, result } = await inFakeTime(async () => {
          if (!restarts) return untilFinal(first)
          const received = await first()
          await drain()
          const again = await takeOver()
          if (!received.retryable) expect(again).toEqual(received)
          return again
        })
        const told = name === 'tell' ? ['Ada'] : people
        expect([status, result]).toEqual([200, Object.fromEntries(told.map((to) => [to, 'sent']))])
        expect(sent.toSorted()).toEqual(told)
      },
    )
    await fc.assert(property, runs)
  })

  it('no call is made twice after a crash at any moment, and a recorded answer is told', async () => {
    const halt = fc.record({
      at: fc.nat({ max: 10 }),
      when: fc.constantFrom('before' as const, 'after' as const),
    })
    const property = fc.asyncProperty(name, store, halt, async (name, store, halt) => {
      const { first, halted, takeOver, sent } = createWorld(name, { store, halt })
      const { result } = await inFakeTime(async () => {
        await Promise.race([untilFinal(first), halted])
        return takeOver()
      })
      expect(sent).toHaveLength(new Set(sent).size)
      for (const [to, status] of Object.entries(result))
        expect(status === 'unknown' || sent.includes(to)).toBe(true)
    })
    await fc.assert(property, runs)
  })
})
