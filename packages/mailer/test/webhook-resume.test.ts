import { type DeliveryStore, memoryStore } from '@org/core'
import { deliver } from '@org/core/testing'
import { expect, it } from 'vitest'
import { pass, stopClock } from './support.ts'
import { runWebhook } from './webhook-support.ts'

const { provider, requests, handler, atRequest } = runWebhook()

const recipients = Array.from({ length: 1_203 }, (_, index) => `person-${index}@example.org`)
function newsletter(fields = {}) {
  const given = { to: recipients, subject: 'News', textBody: 'private words', ...fields }
  return { name: 'FUNCTION_CALL', functionCall: { name: 'sendEmails', arguments: given } }
}

const event = newsletter()
/** Delivers the batch, and checks what its result counts. */
async function deliverAgain(handle: ReturnType<typeof handler>, given: object, counts: object) {
  const { body } = await deliver(handle, given, { id: 'evt_1' })
  expect(body).toMatchObject({ result: counts })
}

/** The addresses that got a mail; checks that each got only one. */
function sentOnce(): Set<string> {
  const sent = provider.messages.flatMap(({ to }) => to)
  expect(sent).toHaveLength(new Set(sent).size)
  return new Set(sent)
}

const limited = { path: '/email/batch', status: 429, headers: { 'retry-after': '120' } }

it.each([0, 1])('sends the rest of a batch that met 429 at call %i when it comes again', async (skip) => {
  const handle = handler()
  provider.faults.add({ ...limited, skip })
  const first = await deliver(handle, event, { id: 'evt_1' })
  expect(first).toMatchObject({ status: 429, body: { code: 'provider_rate_limited', retryable: true } })
  expect(first.headers.get('retry-after')).toBe('120')
  await deliverAgain(handle, event, { sent: 1_203, failed: 0, unknown: 0 })
  expect([requests.length, sentOnce().size]).toEqual([4, 1_203])
})

it('stops a batch before its deadline, and sends the rest when it comes again', async () => {
  stopClock()
  const handle = handler()
  atRequest(1, () => pass(11_000))
  const first = await deliver(handle, event, { id: 'evt_1' })
  expect(first).toMatchObject({ status: 503, body: { code: 'overloaded', retryable: true } })
  expect(first.headers.get('retry-after')).toBe('1')
  expect(provider.messages).toHaveLength(500)
  await deliverAgain(handle, event, { sent: 1_203, failed: 0, unknown: 0 })
  expect(sentOnce().size).toBe(1_203)
})

it('ends a batch that another delivery took over, and says so', async () => {
  const store = memoryStore()
  const handle = handler({ store: { ...store, advance: async () => provider.calls.length === 0 } })
  const taken = await deliver(handle, event, { id: 'evt_1' })
  expect(taken).toMatchObject({ status: 409, body: { code: 'delivery_in_progress', retryable: true } })
  expect(requests).toHaveLength(1)
})

it('reports the call that was in flight when its host died as unknown, and sends the rest', async () => {
  stopClock()
  const store = memoryStore()
  const { promise: left, resolve: leave } = Promise.withResolvers<void>()
  const { promise: answer, reject: die } = Promise.withResolvers<Response>()
  const hang = () => {
    leave()
    return answer
  }
  const first = deliver(handler({ store, fetch: hang }), event, { id: 'evt_1' })
  await left
  expect((await deliver(handler({ store }), event, { id: 'evt_1' })).status).toBe(409)
  // Longer than a lease.
  pass(31_000)
  await deliverAgain(handler({ store }), event, { sent: 703, failed: 0, unknown: 500 })
  expect(sentOnce().size).toBe(703)
  die(new Error('The host is gone.'))
  expect((await first).status).toBe(409)
})

it.each([
  ['', {}],
  [' and its credentials are lost', { shared: {} }],
])('tells what is unknown if the record of a call is unreadable%s, and sends nothing', async (_, lost) => {
  const store = memoryStore()
  const damaged: DeliveryStore = {
    ...store,
    async claim(request) {
      const result = await store.claim(request)
      return result.state === 'claimed' ? { ...result, progress: { 'call 0': 'begun' } } : result
    },
  }
  await deliverAgain(handler({ store: damaged, ...lost }), event, { sent: 0, failed: 0, unknown: 1_203 })
  expect(provider.messages).toEqual([])
})

it.each([
  ['credentials', {}, { from: 'shop@example.com' }],
  ['default sender', { apiToken: 'shared-token' }, {}],
])('tells what was sent if the host lost its %s when the batch comes again', async (_, shared, fields) => {
  const store = memoryStore()
  const event = newsletter(fields)
  provider.faults.add({ ...limited, skip: 1, times: 2 })
  expect((await deliver(handler({ store }), event, { id: 'evt_1' })).status).toBe(429)
  // Without a sender, a message that has not left is invalid; without credentials, one call is tried.
  const read = 'apiToken' in shared ? 500 : 1_000
  const results = recipients.map((to, at) => ({ to: at < read ? to : null }))
  await deliverAgain(handler({ store, shared }), event, { sent: 500, failed: 703, unknown: 0, results })
})
