import { type DeliveryStore, memoryStore } from '@org/core'
import { deliver } from '@org/core/testing'
import { describe, expect, it, vi } from 'vitest'
import * as z from 'zod'
import { runWebhook } from './webhook-support.ts'

const arrangement = runWebhook()
const { provider, requests } = arrangement

const LEASE_MS = 60_000
const recipients = Array.from({ length: 1_203 }, (_, index) => `person-${index}@example.org`)
const newsletter = {
  name: 'FUNCTION_CALL',
  functionCall: {
    name: 'sendEmails',
    arguments: { to: recipients, subject: 'News', textBody: 'private words' },
  },
}
const answer = z.object({
  result: z.object({
    sent: z.number(),
    failed: z.number(),
    unknown: z.number(),
    results: z.array(
      z.object({
        index: z.number(),
        to: z.string().nullable(),
        status: z.string(),
        messageId: z.string().nullable(),
      }),
    ),
  }),
})

/** A store whose holder dies at one of its writes: that write, and all after it, are lost until the lease is over. */
function mortalStore(deathAt: number) {
  let time = 0
  let writes = 0
  const store = memoryStore({ now: () => time })
  const dead = () => Promise.reject(new Error('The process is dead.'))
  const mortal: DeliveryStore = {
    ...store,
    advance(lease, progress) {
      writes += 1
      return writes >= deathAt ? dead() : store.advance(lease, progress)
    },
    complete: (lease, completion) => (writes >= deathAt ? dead() : store.complete(lease, completion)),
    release: dead,
  }
  return {
    mortal,
    /** The same store, seen by the next process once the lease is over. */
    reborn(): DeliveryStore {
      time += LEASE_MS
      return store
    },
  }
}

const timesSent = () => {
  const counts = new Map<string, number>()
  for (const { to } of provider.messages)
    for (const address of to) counts.set(address, (counts.get(address) ?? 0) + 1)
  return counts
}

describe('a batch whose holder died', () => {
  // One write before a call, and one after it: six for three calls, and one for the answer.
  it.each([1, 2, 3, 4, 5, 6])(
    'at write %i goes on at the next delivery: nothing twice, nothing silently missing',
    async (deathAt) => {
      const { mortal, reborn } = mortalStore(deathAt)
      const first = await deliver(arrangement.handler({ store: mortal }), newsletter, { id: 'evt_1' })
      expect(first.status).toBe(503)

      const second = await deliver(arrangement.handler({ store: reborn() }), newsletter, { id: 'evt_1' })
      expect(second.status).toBe(200)
      const { result } = answer.parse(second.body)
      expect(result.results.map(({ index }) => index)).toEqual(recipients.map((_, index) => index))
      const sent = timesSent()
      expect(Math.max(...sent.values())).toBe(1)
      for (const { index, to, status } of result.results) {
        const address = recipients[index] ?? ''
        expect(to).toBe(address)
        if (status === 'sent') expect(sent.get(address)).toBe(1)
        else expect(status).toBe('unknown')
      }
      expect(result.sent + result.unknown).toBe(1_203)
    },
  )

  it('and the next one too goes on a third time', async () => {
    const { mortal, reborn } = mortalStore(2)
    await deliver(arrangement.handler({ store: mortal }), newsletter, { id: 'evt_1' })
    const store = reborn()
    const second = await deliver(arrangement.handler({ store }), newsletter, { id: 'evt_1' })
    const third = await deliver(arrangement.handler({ store }), newsletter, { id: 'evt_1' })
    expect(third.body).toEqual(second.body)
    expect(third.headers.get('idempotency-replayed')).toBe('true')
  })
})

describe('a batch that the provider slows down in the middle', () => {
  it('stops, says how long to wait, and goes on with the rest at the next delivery', async () => {
    const handle = arrangement.handler()
    provider.faults.add({ path: '/email/batch', skip: 1, status: 429, headers: { 'retry-after': '120' } })
    const first = await deliver(handle, newsletter, { id: 'evt_1' })
    expect(first).toMatchObject({ status: 503, body: { code: 'overloaded', retryable: true } })
    expect(first.headers.get('retry-after')).toBe('120')
    const second = await deliver(handle, newsletter, { id: 'evt_1' })
    expect(answer.parse(second.body).result).toMatchObject({ sent: 1_203, failed: 0, unknown: 0 })
    expect(requests).toHaveLength(4)
    expect(Math.max(...timesSent().values())).toBe(1)
  })

  it('without a delivery id can’t go on later, so it tells of each message what came of it', async () => {
    provider.faults.add({ path: '/email/batch', skip: 1, status: 429, headers: { 'retry-after': '120' } })
    const { status, body } = await deliver(arrangement.handler(), newsletter)
    expect(status).toBe(200)
    const { result } = answer.parse(body)
    expect(result.sent + result.failed).toBe(1_203)
    expect(result.failed).toBeGreaterThan(200)
  })
})

it('a batch for which the time is not enough stops in time, and goes on at the next delivery', async () => {
  const store = memoryStore()
  const everyone = Array.from({ length: 10_000 }, (_, index) => `person-${index}@example.org`)
  const args = { ...newsletter.functionCall.arguments, to: everyone }
  const event = { ...newsletter, functionCall: { ...newsletter.functionCall, arguments: args } }
  // The clock jumps to shortly before the deadline while the first calls are under way.
  vi.useFakeTimers({ toFake: ['Date'] })
  arrangement.atRequest(1, () => vi.setSystemTime(Date.now() + 18_000))
  const first = await deliver(arrangement.handler({ store }), event, { id: 'evt_1' })
  vi.useRealTimers()
  expect(first).toMatchObject({ status: 503, body: { code: 'overloaded', retryable: true } })
  expect(provider.messages.length).toBeLessThan(10_000)
  const second = await deliver(arrangement.handler({ store }), event, { id: 'evt_1' })
  expect(answer.parse(second.body).result).toMatchObject({ sent: 10_000, failed: 0, unknown: 0 })
  expect(Math.max(...timesSent().values())).toBe(1)
})

it('what is written down of a batch holds no address and no text', async () => {
  const written: string[] = []
  const memory = memoryStore()
  const store: DeliveryStore = {
    ...memory,
    advance(lease, progress) {
      written.push(JSON.stringify(progress))
      return memory.advance(lease, progress)
    },
  }
  await deliver(arrangement.handler({ store }), newsletter, { id: 'evt_1' })
  expect(written.length).toBeGreaterThan(5)
  expect(written.join()).not.toMatch(/@|private words/)
})
