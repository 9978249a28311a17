import { type DeliveryStore, type Egress, memoryStore } from '@org/core'
import { deliver } from '@org/core/testing'
import { describe, expect, it, vi } from 'vitest'
import { addressOf, pass, stopClock } from './support.ts'
import { runWebhook } from './webhook-support.ts'

const webhook = runWebhook()
const { provider, requests, call, handler, atRequest, sentTwice } = webhook

const mail = { to: 'ann@example.org', subject: 'News', textBody: 'private words' }
const batchOf = (given: object, deployment?: object) => ({
  name: 'FUNCTION_CALL',
  deployment,
  functionCall: { name: 'sendEmails', arguments: given },
})

describe('the line of a batch', () => {
  /** The lines about the events, and those that go on with their ids. */
  const lines = () =>
    webhook.log.map((line) => JSON.parse(line)).filter(([, , facts]) => facts.messageIds || facts.event)

  it('tells the fates and the ids of the messages', async () => {
    await call('sendEmails', { messages: Array(450).fill(mail) }, 'evt_1')
    expect(lines()[0]).toMatchObject(['info', 'FUNCTION_CALL 200', { outcome: 'ok', sent: 450 }])
    expect(lines().map(([, , { messageIds }]) => messageIds.length)).toEqual([200, 200, 50])
    webhook.log.length = 0
    provider.faults.add({ status: 500 })
    for (const id of ['evt_2', 'evt_3'])
      await call('sendEmails', { messages: [mail, { ...mail, to: 'nobody' }] }, id)
    const partial = { outcome: 'partial', sent: 1, failed: 1, unknown: 0, failedCode: 'invalid_arguments' }
    expect(lines()).toMatchObject([
      ['warn', 'FUNCTION_CALL 200', { outcome: 'unknown', sent: 0, failed: 1, unknown: 1 }],
      ['info', 'FUNCTION_CALL 200', partial],
    ])
  })

  it('counts every message that fails for good, and calls none failed that may be sent later', async () => {
    const stop = new AbortController()
    const stopped: typeof fetch = (...given) => fetch(...given).finally(() => stop.abort())
    const event = batchOf({ messages: [mail, mail] })
    const deliverTo = async (dependencies: Parameters<typeof handler>[0]) =>
      deliver(handler({ recordKeys: ['a key of the host'], ...dependencies }), event, { id: 'evt_1' })
    await deliverTo({ shared: { apiToken: 'wrong-token', fromEmail: 'a@example.com' } })
    provider.faults.add({ status: 429 })
    const { body } = await deliverTo({ fetch: stopped, stopping: stop.signal })
    expect(body).toMatchObject({ code: 'shutting_down', retryable: true })
    const later = { recipients: { pending: { length: 2 } }, reason: expect.stringContaining('429') }
    expect(lines()).toMatchObject([
      ['warn', 'FUNCTION_CALL 422', { failed: 2, recipients: { failed: { length: 2 } } }],
      [expect.any(String), 'FUNCTION_CALL 503', later],
    ])
    expect(lines()[1][2]).not.toHaveProperty('failed')
  })
})

describe('sendEmails', () => {
  it('returns a result for each message, and a refused message fails alone', async () => {
    const gone = 'gone@example.org'
    provider.inactive.add(gone)
    const invalid = [{ ...mail, sbject: 'Hello' }, { ...mail, to: 'nobody' }, 'no message']
    const messages = [mail, { ...mail, to: gone }, ...invalid, { ...mail, cc: gone }]
    const { body } = await call('sendEmails', { messages })
    const message = expect.stringMatching(/406.*\[address\]/)
    const error = { code: 'provider_rejected', message, retryable: false, provider: { code: '406' } }
    const [first, second] = provider.messages
    const results = [
      { index: 0, to: 'ann@example.org', status: 'sent', messageId: first?.messageId, rejected: [] },
      { index: 1, to: gone, status: 'failed', rejected: [gone], error },
      ...invalid.map(() => ({ to: null, status: 'failed', error: { code: 'invalid_arguments' } })),
      { index: 5, status: 'sent', messageId: second?.messageId, rejected: [gone], error: null },
    ]
    expect(body).toMatchObject({ result: { sent: 2, failed: 4, unknown: 0, results } })
  })

  it('sends a list of recipients one message each, so that nobody sees the others', async () => {
    const to = ['ann@example.org', 'nobody', 'Bob <bob@example.org>']
    const { body } = await call('sendEmails', { to, subject: 'Hello', body: '<p>Hi</p>', tag: 'news' })
    const results = [{ index: 0 }, { index: 1, status: 'failed' }, { index: 2 }]
    expect(body).toMatchObject({ result: { sent: 2, failed: 1, results } })
    const same = { cc: [], bcc: [], htmlBody: '<p>Hi</p>', tag: 'news' }
    const expected = [['ann@example.org'], ['bob@example.org']].map((each) => ({ ...same, to: each }))
    expect(provider.messages).toMatchObject(expected)
  })

  it('lets others work while it answers for each of 4,000 invalid messages', async () => {
    const turn = vi.fn()
    const others = setInterval(turn)
    const event = batchOf({ messages: Array(4_000).fill({ ...mail, to: 'nobody' }) })
    const { body } = await deliver(handler({ timeoutMs: 600_000 }), event)
    clearInterval(others)
    expect(body).toMatchObject({ result: { failed: 4_000 } })
    expect([turn.mock.calls.length > 10, requests]).toEqual([true, []])
  })
})

describe('the memory of the host', () => {
  const long = (bytes: number) => ({ subject: 'News', textBody: 'a'.repeat(bytes) })
  const recipients = (count: number) => Array.from({ length: count }, (_, at) => addressOf(at))

  it('has 8 MB for all batches of one deployment at a time, in calls of at most 2 MB', async () => {
    const shared = { id: 'dep_1', inputs: { serverType: 'shared' } }
    const few = { to: recipients(3), ...long(900_000) }
    // Their size in bytes is estimated.
    const many = { to: recipients(30), subject: 'News', textBody: '語'.repeat(25_000) }
    for (const given of [few, many]) {
      const calls = webhook.hold()
      const handle = handler({ fetch: calls.fetch })
      const batches = Array.from({ length: 6 }, () => deliver(handle, batchOf(given, shared)))
      await calls.arrived(4)
      for (let left = 12; left > 0; left -= 1) await calls.answer(1)
      for (const { body } of await Promise.all(batches))
        expect(body).toMatchObject({ result: { sent: given.to.length } })
    }
    expect(requests.filter(({ text }) => Buffer.byteLength(text) > 2_000_000)).toEqual([])
  })

  it('has 24 MB for the servers of deployments, which hold up no batch with the host’s own', async () => {
    const calls = webhook.hold()
    const egress: Egress = { refuse: () => undefined, fetch: calls.fetch }
    const handle = handler({ egress, timeoutMs: 600_000 })
    const given = { to: [mail.to], ...long(1_900_000) }
    const own = { apiToken: 'dedicated-token', fromEmail: 'me@example.com', messageStream: 'outbound' }
    const batches = Array.from({ length: 14 }, (_, at) => {
      const deployment = { id: `dep_${at % 4}`, outputs: { ...own, apiUrl: 'http://elsewhere.invalid' } }
      return deliver(handle, batchOf(given, deployment))
    })
    await calls.arrived(12)
    expect((await deliver(handle, batchOf(given))).body).toMatchObject({ result: { sent: 1 } })
    await calls.arrived(12)
    for (let left = 14; left > 0; left -= 1) await calls.answer(1)
    for (const { body } of await Promise.all(batches)) expect(body).toMatchObject({ result: { sent: 1 } })
  })
})

describe('a batch that comes again', () => {
  const to = Array.from({ length: 1_203 }, (_, index) => addressOf(index))
  const event = batchOf({ ...mail, to })
  const limited = { path: '/email/batch', status: 429, headers: { 'retry-after': '120' } }
  const all = { sent: 1_203, failed: 0, unknown: 0 }
  const first = (handle: ReturnType<typeof handler>) => deliver(handle, event, { id: 'evt_1' })

  /** Delivers the batch again, and checks what its result counts, and that nobody got two mails. */
  async function again(handle: ReturnType<typeof handler>, result: object, given = event) {
    expect((await deliver(handle, given, { id: 'evt_1' })).body).toMatchObject({ result })
    expect(sentTwice()).toBe(0)
  }

  it.each([0, 1, 2])('sends the rest if it met 429 at call %i', async (skip) => {
    const handle = handler()
    provider.faults.add({ ...limited, skip })
    const { status, body, headers } = await first(handle)
    expect([status, headers.get('retry-after')]).toEqual([429, '120'])
    expect(body).toMatchObject({ code: 'provider_rate_limited', retryable: true })
    await again(handle, all)
    expect([requests.length, provider.messages.length]).toEqual([4, 1_203])
  })

  it('sends the rest if it stopped before its deadline', async () => {
    stopClock()
    const handle = handler()
    atRequest(1, () => pass(11_000))
    const { status, body, headers } = await first(handle)
    expect([status, body]).toMatchObject([503, { code: 'overloaded', retryable: true }])
    expect([headers.get('retry-after'), provider.messages.length]).toEqual(['1', 500])
    await again(handle, all)
  })

  it('reports the call that was in flight when its host died as unknown, and sends the rest', async () => {
    stopClock()
    const store = memoryStore()
    const left = Promise.withResolvers<void>()
    const answer = Promise.withResolvers<Response>()
    const hang = () => {
      left.resolve()
      return answer.promise
    }
    const dying = first(handler({ store, fetch: hang }))
    await left.promise
    expect((await first(handler({ store }))).status).toBe(409)
    // Longer than a lease.
    pass(31_000)
    await again(handler({ store }), { sent: 703, failed: 0, unknown: 500 })
    answer.reject(new Error('The host is gone.'))
    expect((await dying).status).toBe(409)
  })

  it.each([{}, { shared: {} }])('sends nothing if its record is unreadable: %j', async (lost) => {
    const store = memoryStore()
    const damaged: DeliveryStore = {
      ...store,
      async claim(request) {
        const result = await store.claim(request)
        return result.state === 'claimed' ? { ...result, progress: { 'call 0': 'begun' } } : result
      },
    }
    await again(handler({ store: damaged, ...lost }), { sent: 0, failed: 0, unknown: 1_203 })
    expect(provider.messages).toEqual([])
  })

  it.each([
    ['credentials', {}, { from: 'shop@example.com' }],
    ['default sender', { apiToken: 'shared-token' }, {}],
  ])('tells what was sent if the host lost its %s', async (_, shared, fields) => {
    const store = memoryStore()
    const event = batchOf({ ...mail, to, ...fields })
    provider.faults.add({ ...limited, skip: 1, times: 2 })
    await deliver(handler({ store }), event, { id: 'evt_1' })
    // Without a sender, a message that has not left is invalid; without credentials, one call is tried.
    const read = 'apiToken' in shared ? 500 : 1_000
    const results = to.map((address, at) => ({ to: at < read ? address : null }))
    await again(handler({ store, shared }), { sent: 500, failed: 703, unknown: 0, results }, event)
  })
})
