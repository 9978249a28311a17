/** A delivery store that fails, stalls or loses its answers at any write, under calls that must happen once. */
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
import { inFakeTime } from './fixtures.ts'

const id = 'evt_1'
const LEASE_MS = 30_000
const people = ['Ada', 'Bo', 'Cy']

const teller = defineIntegration({
  name: 'teller',
  title: 'Teller',
  description: 'Tells people.',
  events: ['FUNCTION_CALL'],
  inputs: z.object({}),
  outputs: z.object({}),
  functions: {
    tell: {
      description: 'Tells one person.',
      effectful: true,
      arguments: functionArguments({ to: z.string() }),
      result: z.object({ status: z.string() }),
    },
    tellAll: {
      description: 'Tells several people, each by a call of its own.',
      effectful: true,
      resumable: true,
      arguments: functionArguments({ to: z.array(z.string()) }),
      result: z.record(z.string(), z.string()),
    },
  },
  metrics: {},
  downloads: [],
})

const call = (name: string, to: unknown) => ({
  name: 'FUNCTION_CALL',
  functionCall: { name, arguments: { to } },
})
const events = { tell: call('tell', 'Ada'), tellAll: call('tellAll', people) }

const pause = (milliseconds: number) => new Promise<void>((resolve) => setTimeout(resolve, milliseconds))
const never = new Promise<never>(() => {})

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
  if (record === 'begun') return [to, 'unknown']
  if (record !== undefined) return [to, 'sent']
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

const faults = ['is away', 'loses its answer', 'applies it later', 'stalls'] as const
type Fate = 'works' | (typeof faults)[number]

/** A process that dies at a write, and its successors. */
function createWorld({
  storeFates,
  providerFates = [],
  deathAt,
}: {
  storeFates: readonly Fate[]
  providerFates?: readonly ('answers' | 'is not reached')[]
  deathAt?: { write: number; when: 'before' | 'after' }
}) {
  // Not `Date.now` itself, which would stay the real one.
  const now = () => Date.now()
  const memory = memoryStore({ now })
  const sent: string[] = []
  const background: Promise<unknown>[] = []
  const died = Promise.withResolvers<void>()
  const [nextOfStore, nextOfProvider] = [[...storeFates], [...providerFates]]
  const late: (() => Promise<unknown>)[] = []
  let writes = 0
  let isDead = false

  async function write<Result>(apply: () => Promise<Result>): Promise<Result> {
    writes += 1
    const dieAt = (when: 'before' | 'after') => {
      if (deathAt?.write !== writes || deathAt.when !== when) return
      isDead = true
      died.resolve()
    }
    dieAt('before')
    if (isDead) return never
    const fate = nextOfStore.shift() ?? 'works'
    if (fate === 'is away') throw new Error('connect ECONNREFUSED')
    if (fate === 'stalls') await pause(700)
    // A connection keeps the order.
    for (const earlier of late.splice(0)) await earlier()
    if (fate === 'applies it later') {
      late.push(apply)
      await pause(500)
      throw new Error('The store did not answer.')
    }
    const result = await apply()
    dieAt('after')
    if (isDead) return never
    if (fate === 'loses its answer') throw new Error('The connection broke.')
    return result
  }

  const failing: DeliveryStore = {
    ...memory,
    claim: (...parts) => write(() => memory.claim(...parts)),
    renew: (...parts) => write(() => memory.renew(...parts)),
    advance: (...parts) => write(() => memory.advance(...parts)),
    complete: (...parts) => write(() => memory.complete(...parts)),
    release: (...parts) => write(() => memory.release(...parts)),
    reserve: (...parts) => write(() => memory.reserve(...parts)),
  }
  const start = (store: DeliveryStore, isAlive: () => boolean) => {
    const handlers: Handlers<typeof teller> = {
      functions: {
        async tell({ to }, context) {
          await send(to, context)
          return { status: 'sent' }
        },
        async tellAll({ to }, context) {
          const outcomes = await Promise.allSettled(to.map((name) => sendOnce(name, context)))
          return Object.fromEntries(
            outcomes.map((outcome) => {
              if (outcome.status === 'rejected') throw outcome.reason
              return outcome.value
            }),
          )
        },
      },
    }
    return createWebhookHandler(teller, handlers, {
      platform: connectPlatform(createPlatformEmulator().fetch),
      store,
      logger: () => {},
      now,
      waitUntil: (work) => background.push(work),
      async fetch(input) {
        if (!isAlive()) return never
        if (nextOfProvider.shift() === 'is not reached')
          throw Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })
        sent.push(new URL(String(input)).pathname.slice(1))
        await pause(100)
        return isAlive() ? new Response() : never
      },
    })
  }
  return {
    sent,
    died: died.promise,
    first: start(failing, () => !isDead),
    successor: start(memory, () => true),
    drain: () => Promise.all(background),
    kill() {
      isDead = true
    },
  }
}

const response = z.object({
  status: z.number(),
  body: z
    .object({ retryable: z.boolean(), code: z.string(), result: z.record(z.string(), z.string()) })
    .partial(),
})

async function deliverOnce(handle: Parameters<typeof deliver>[0], event: object) {
  return response.parse(await deliver(handle, event, { id }))
}

async function deliverUntilFinal(handle: Parameters<typeof deliver>[0], event: object) {
  for (;;) {
    const received = await deliverOnce(handle, event)
    if (!received.body.retryable) return received
    await pause(2_000)
  }
}

/** Up to three outages that begin after some writes, in all shorter than the lease. */
const storeFates = fc
  .array(
    fc.record({
      after: fc.integer({ min: 0, max: 3 }),
      fate: fc.constantFrom(...faults),
      times: fc.oneof(fc.integer({ min: 1, max: 4 }), fc.constant(15)),
    }),
    { maxLength: 3 },
  )
  .map((outages) =>
    outages.flatMap(({ after, fate, times }): Fate[] => [
      ...Array<Fate>(after).fill('works'),
      ...Array<Fate>(times).fill(fate),
    ]),
  )
const providerFates = fc.array(fc.constantFrom('answers' as const, 'is not reached' as const), {
  maxLength: 4,
})
const runs = { numRuns: 100 }
const name = fc.constantFrom('tell' as const, 'tellAll' as const)

describe('under a store that loses the answers to a claim', () => {
  it.each(['loses its answer', 'applies it later'] as const)('which %s, an event goes on', async (fate) => {
    const world = createWorld({ storeFates: [fate, fate] })
    const { status } = await inFakeTime(() => deliverOnce(world.first, events.tell))
    expect([status, world.sent]).toEqual([200, ['Ada']])
  })

  it('for long, an event that was refused can be delivered again as soon as the store is back', async () => {
    const world = createWorld({ storeFates: Array<Fate>(6).fill('loses its answer') })
    const statuses = await inFakeTime(async () => {
      const { status } = await deliverOnce(world.first, events.tell)
      const refused = Date.now()
      await world.drain()
      expect(Date.now() - refused).toBeLessThan(LEASE_MS / 10)
      return [status, (await deliverOnce(world.first, events.tell)).status]
    })
    expect([statuses, world.sent]).toEqual([[503, 200], ['Ada']])
  })

  it('until its lease ends, an event that was refused leaves no work behind', async () => {
    const world = createWorld({ storeFates: Array<Fate>(1_000).fill('loses its answer') })
    const tookMs = await inFakeTime(async () => {
      const begun = Date.now()
      expect(await deliverOnce(world.first, events.tell)).toMatchObject({ status: 503 })
      await world.drain()
      return Date.now() - begun
    })
    expect(tookMs).toBeLessThan(LEASE_MS + 1_000)
  })
})

describe('under a store that fails at any write', () => {
  it('every call is made once, and its outcome is known', async () => {
    await fc.assert(
      fc.asyncProperty(
        name,
        storeFates,
        providerFates,
        fc.boolean(),
        async (name, storeFates, providerFates, restarts) => {
          const world = createWorld({ storeFates, providerFates })
          const { status, body } = await inFakeTime(async () => {
            if (!restarts) return deliverUntilFinal(world.first, events[name])
            const received = await deliverOnce(world.first, events[name])
            await world.drain()
            world.kill()
            vi.setSystemTime(Date.now() + LEASE_MS)
            const again = await deliverUntilFinal(world.successor, events[name])
            if (!received.body.retryable) expect(again).toEqual(received)
            return again
          })
          expect([status, Object.values(body.result ?? {})]).toEqual([
            200,
            name === 'tell' ? ['sent'] : people.map(() => 'sent'),
          ])
          expect(world.sent.toSorted()).toEqual(name === 'tell' ? ['Ada'] : people)
        },
      ),
      runs,
    )
  })

  it('no call is made twice after a crash at any moment, and a recorded answer is told', async () => {
    const deathAt = fc.record({
      write: fc.integer({ min: 1, max: 10 }),
      when: fc.constantFrom('before' as const, 'after' as const),
    })
    await fc.assert(
      fc.asyncProperty(name, storeFates, deathAt, async (name, storeFates, deathAt) => {
        const world = createWorld({ storeFates, deathAt })
        const { body } = await inFakeTime(async () => {
          await Promise.race([deliverUntilFinal(world.first, events[name]), world.died])
          vi.setSystemTime(Date.now() + LEASE_MS)
          return deliverUntilFinal(world.successor, events[name])
        })
        expect(world.sent).toHaveLength(new Set(world.sent).size)
        for (const [to, status] of Object.entries(body.result ?? {}))
          if (name === 'tellAll') expect(status === 'unknown' || world.sent.includes(to)).toBe(true)
        if (name === 'tell' && body.result) expect(world.sent).toEqual(['Ada'])
      }),
      runs,
    )
  })
})
