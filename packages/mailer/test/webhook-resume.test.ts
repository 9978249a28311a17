import { type DeliveryStore, memoryStore } from '@org/core'
import { deliver } from '@org/core/testing'
import { expect, it, vi } from 'vitest'
import * as z from 'zod'
import { runWebhook } from './webhook-support.ts'

const { provider, requests, handler, atRequest } = runWebhook()

function addresses(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `person-${index}@example.org`)
}

function newsletter(to: readonly string[]) {
  const given = { to, subject: 'News', textBody: 'private words' }
  return { name: 'FUNCTION_CALL', functionCall: { name: 'sendEmails', arguments: given } }
}

const recipients = addresses(1_203)
const event = newsletter(recipients)
const response = z.object({
  result: z.object({
    sent: z.number(),
    failed: z.number(),
    unknown: z.number(),
    results: z.array(z.object({ index: z.number(), to: z.string(), status: z.string() })),
  }),
})

/** The addresses that got a mail; checks that each got only one. */
function sentOnce(): Set<string> {
  const sent = provider.messages.flatMap(({ to }) => to)
  expect(sent).toHaveLength(new Set(sent).size)
  return new Set(sent)
}

it('stops a batch after 429, passes Retry-After on, and sends the rest at the redelivery', async () => {
  const handle = handler()
  provider.faults.add({ path: '/email/batch', skip: 1, status: 429, headers: { 'retry-after': '120' } })
  const first = await deliver(handle, event, { id: 'evt_1' })
  expect(first).toMatchObject({ status: 503, body: { code: 'overloaded', retryable: true } })
  expect(first.headers.get('retry-after')).toBe('120')
  const second = await deliver(handle, event, { id: 'evt_1' })
  expect(response.parse(second.body).result).toMatchObject({ sent: 1_203, failed: 0, unknown: 0 })
  expect(requests).toHaveLength(4)
  sentOnce()
})

it('reports each message of a batch after 429 if the event has no delivery id', async () => {
  provider.faults.add({ path: '/email/batch', skip: 1, status: 429, headers: { 'retry-after': '120' } })
  const { status, body } = await deliver(handler(), event)
  expect(status).toBe(200)
  const { result } = response.parse(body)
  expect(result.sent + result.failed).toBe(1_203)
  expect(result.failed).toBeGreaterThan(200)
})

it('stops a batch before its deadline, and sends the rest at the redelivery', async () => {
  const store = memoryStore()
  const large = newsletter(addresses(10_000))
  // The clock jumps to shortly before the deadline while the first calls are in flight.
  vi.useFakeTimers({ toFake: ['Date'] })
  atRequest(1, () => vi.setSystemTime(Date.now() + 11_000))
  const first = await deliver(handler({ store }), large, { id: 'evt_1' })
  vi.useRealTimers()
  expect(first).toMatchObject({ status: 503, body: { code: 'overloaded', retryable: true } })
  expect(provider.messages.length).toBeLessThan(10_000)
  const second = await deliver(handler({ store }), large, { id: 'evt_1' })
  expect(response.parse(second.body).result).toMatchObject({ sent: 10_000, failed: 0, unknown: 0 })
  sentOnce()
})

it('begins no call after its host began to stop, ends those under way, and sends the rest at the redelivery', async () => {
  const store = memoryStore()
  const stop = new AbortController()
  atRequest(1, () => stop.abort())
  const first = await deliver(handler({ store, stopping: stop.signal }), event, { id: 'evt_1' })
  expect(first).toMatchObject({ status: 503, body: { code: 'shutting_down', retryable: true } })
  expect(first.headers.get('retry-after')).toBe('1')
  expect(requests).toHaveLength(1)
  const second = await deliver(handler({ store }), event, { id: 'evt_1' })
  expect(response.parse(second.body).result).toMatchObject({ sent: 1_203, failed: 0, unknown: 0 })
  sentOnce()
})

it('finishes a batch without a delivery id although its host stops, because no redelivery could go on', async () => {
  const stopping = AbortSignal.abort()
  const { body } = await deliver(handler({ stopping }), event)
  expect(response.parse(body).result).toMatchObject({ sent: 1_203 })
})

it('records no address and no text of a batch', async () => {
  const written: string[] = []
  const memory = memoryStore()
  const store: DeliveryStore = {
    ...memory,
    advance(lease, progress) {
      written.push(JSON.stringify(progress))
      return memory.advance(lease, progress)
    },
  }
  await deliver(handler({ store }), event, { id: 'evt_1' })
  expect(written.length).toBeGreaterThan(5)
  expect(written.join()).not.toMatch(/@|private words/)
})

it('mails nobody twice, and everybody once, when the default sender is configured between two deliveries', async () => {
  const messages = addresses(1_000).map((to, index) => ({
    ...(index >= 300 && { from: 'Shop <shop@example.com>' }),
    to,
    subject: 'News',
    textBody: 'private words',
  }))
  const given = { name: 'FUNCTION_CALL', functionCall: { name: 'sendEmails', arguments: { messages } } }
  const store = memoryStore()
  provider.faults.add({ path: '/email/batch', skip: 1, status: 429, headers: { 'retry-after': '120' } })
  const first = await deliver(handler({ store, shared: { apiToken: 'shared-token' } }), given, {
    id: 'evt_1',
  })
  expect(first.status).toBe(503)
  expect(provider.messages).toHaveLength(500)

  const second = await deliver(handler({ store }), given, { id: 'evt_1' })
  expect(response.parse(second.body).result).toMatchObject({ sent: 1_000, failed: 0, unknown: 0 })
  expect(sentOnce().size).toBe(1_000)
})

it('tells what is unknown if the record of a call is unreadable, and sends nothing', async () => {
  const store = memoryStore()
  const damaged: DeliveryStore = {
    ...store,
    async claim(request) {
      const result = await store.claim(request)
      return result.state === 'claimed' ? { ...result, progress: { 'call 0': 'begun' } } : result
    },
  }
  const { body } = await deliver(handler({ store: damaged }), event, { id: 'evt_1' })
  expect(response.parse(body).result).toMatchObject({ sent: 0, failed: 0, unknown: 1_203 })
  expect(provider.messages).toEqual([])
})

it.each([
  ['credentials', {}],
  ['default sender', { apiToken: 'shared-token' }],
])('tells what was sent if the host lost its %s when the batch comes again', async (_, shared) => {
  const store = memoryStore()
  const headers = { 'retry-after': '120' }
  provider.faults.add({ path: '/email/batch', skip: 1, times: 2, status: 429, headers })
  expect((await deliver(handler({ store }), event, { id: 'evt_1' })).status).toBe(503)
  const { status, body } = await deliver(handler({ store, shared }), event, { id: 'evt_1' })
  expect(status).toBe(200)
  const { result } = response.parse(body)
  expect(result).toMatchObject({ sent: 500, failed: 703, unknown: 0 })
  expect(result.results.map(({ to }) => to)).toEqual(recipients)
})
