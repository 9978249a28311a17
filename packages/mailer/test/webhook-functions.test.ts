import type { Egress } from '@org/core'
import { deliver } from '@org/core/testing'
import { describe, expect, it } from 'vitest'
import { runWebhook } from './webhook-support.ts'

const webhook = runWebhook()
const { provider, requests, platform, call, send, tokens } = webhook

const mail = { to: 'ann@example.org', subject: 'Hello', textBody: 'private words' }
const event = (deployment: object, name = 'sendEmail', given: object = mail) => ({
  name: 'FUNCTION_CALL',
  deployment: { id: 'dep_1', ...deployment },
  functionCall: { name, arguments: given },
})
const shared = { inputs: { serverType: 'shared' } }

/** A `fetch` that holds each POST until the test lets them go. */
function holdCalls() {
  const { promise: held, resolve: letGo } = Promise.withResolvers<void>()
  let calls = 0
  const holding: typeof fetch = async (input, init) => {
    if (init?.method === 'POST') {
      calls += 1
      await held
    }
    return fetch(input, init)
  }
  return { calls: () => calls, letGo, fetch: holding }
}

/** The lines about the events, and those that go on with their ids. */
const lines = () =>
  webhook.log.map((line) => JSON.parse(line)).filter(([, , facts]) => facts.messageIds || facts.event)

describe('sendEmail', () => {
  it('sends with the shared server if the event names no deployment', async () => {
    const { status, body } = await call('send', mail)
    const { messageId } = provider.messages[0] ?? {}
    const submittedAt = expect.stringMatching(/Z$/)
    const result = { messageId, submittedAt, to: 'ann@example.org', rejected: [] }
    expect([status, body]).toEqual([200, { result }])
    expect(provider.messages).toMatchObject([{ from: 'Shop <shop@example.com>', textBody: 'private words' }])
    expect(tokens()).toEqual(['shared-token'])
  })

  const own = { apiToken: 'dedicated-token', fromEmail: 'me@example.com' }
  it.each([
    ['outputs', { ...own, messageStream: 'broadcast' }, 'broadcast'],
    ['inputs', { ...own, serverType: 'dedicated' }, 'outbound'],
  ])('sends with the %s of the deployment', async (kind, values, messageStream) => {
    if (kind === 'inputs') platform.addDeployment({ id: 'dep_1', inputs: values })
    await send(event(kind === 'outputs' ? { outputs: { ...values, apiUrl: webhook.url } } : {}))
    expect(provider.messages).toMatchObject([{ from: 'me@example.com', messageStream }])
    expect(tokens()).toEqual(['dedicated-token'])
  })

  it('sends the shared token only to its own provider, whatever base URL an event brings', async () => {
    const { outputs } = platform.addDeployment({ id: 'dep_1' })
    Object.assign(outputs, { apiToken: 'shared-token', apiUrl: webhook.url, messageStream: 'outbound' })
    const given = { ...mail, from: 'me@example.com' }
    await send(event({ outputs: { apiUrl: 'http://127.0.0.1:9' } }, 'sendEmail', given))
    expect(provider.messages).toHaveLength(1)
  })

  it('passes the provider’s refusal on, without the addresses and tokens in it', async () => {
    const Message = 'Not ann@example.org with shared-token.'
    provider.faults.add({ status: 422, body: { ErrorCode: 402, Message } })
    const { status, body } = await call('sendEmail', mail)
    const refusal = { name: 'mailer', status: 422, code: '402', message: 'Not [address] with [redacted].' }
    expect([status, body]).toMatchObject([422, { code: 'provider_rejected', provider: refusal }])
    expect(JSON.stringify(body)).not.toMatch(/@|shared-token/)
  })
})

it('gives each mail the id of its delivery, unless the sender needs the place', async () => {
  const full = Object.fromEntries(Array.from({ length: 10 }, (_, at) => [`field-${at}`, 'x']))
  const own = [undefined, { order: '7' }, { delivery: 'mine' }, full]
  for (const [at, metadata] of own.entries()) await call('sendEmail', { ...mail, metadata }, `evt_${at}`)
  await call('sendEmails', { messages: [mail] }, 'e'.repeat(100))
  await call('sendEmails', { ...mail, to: ['ann@example.org'] }, 'a\u0085b')
  await call('sendEmail', mail)
  expect(requests.map(({ text }) => [JSON.parse(text)].flat()[0].Metadata)).toEqual([
    { delivery: 'evt_0' },
    { order: '7', delivery: 'evt_1' },
    { delivery: 'mine' },
    full,
    { delivery: 'e'.repeat(80) },
    undefined,
    undefined,
  ])
})

it.each<[name: string, path: string, reason: string, given: object]>([
  ['sendEmail', 'htmlBody', 'textBody', { to: 'ann@example.org', subject: 'Hello' }],
  ['sendEmail', 'subject', 'line break', { ...mail, subject: 'a\r\nBcc: eve@example.org' }],
  ['sendEmails', 'messages', 'required', {}],
  ['sendEmails', 'subject', 'required', { to: ['ann@example.org'], textBody: 'Hi' }],
  ['sendEmails', 'subject', 'beside messages', { messages: [mail], subject: 'Hello' }],
  ['sendEmails', 'messages', '10,000', { messages: Array(10_001).fill(0) }],
])('%s with a fault in %s is refused as a whole: %s', async (name, path, reason, given) => {
  const { status, body } = await call(name, given)
  expect([status, body]).toMatchObject([422, { code: 'invalid_arguments', retryable: false }])
  expect(body).toHaveProperty('errors[0]', { path, message: expect.stringContaining(reason) })
  expect(requests).toEqual([])
})

describe('the line of a batch', () => {
  it('tells the fates and the ids of the messages', async () => {
    await call('sendEmails', { messages: Array.from({ length: 450 }, () => mail) }, 'evt_1')
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
    const batch = { name: 'sendEmails', arguments: { messages: [mail, mail] } }
    const deliverTo = async (dependencies: Parameters<typeof webhook.handler>[0]) => {
      const handle = webhook.handler({ recordKeys: ['a key of the host'], ...dependencies })
      return deliver(handle, { name: 'FUNCTION_CALL', functionCall: batch }, { id: 'evt_1' })
    }
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
    provider.inactive.add('gone@example.org')
    const [gone, bob] = ['gone@example.org', 'bob@example.org'].map((to) => ({ ...mail, to }))
    const invalid = [{ ...mail, sbject: 'Hello' }, { ...mail, to: 'nobody' }, 'no message']
    const { body } = await call('sendBatch', { messages: [mail, gone, ...invalid, { ...bob, cc: gone?.to }] })
    const message = expect.stringMatching(/406.*\[address\]/)
    const error = { code: 'provider_rejected', message, retryable: false, provider: { code: '406' } }
    const [first, second] = provider.messages
    const results = [
      { index: 0, to: 'ann@example.org', status: 'sent', messageId: first?.messageId, rejected: [] },
      { index: 1, to: 'gone@example.org', status: 'failed', rejected: ['gone@example.org'], error },
      ...invalid.map(() => ({ to: null, status: 'failed', error: { code: 'invalid_arguments' } })),
      { index: 5, status: 'sent', messageId: second?.messageId, rejected: ['gone@example.org'], error: null },
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

  it('sends calls of at most 2 MB, so that the host composes little of a large batch at a time', async () => {
    const to = Array.from({ length: 12 }, (_, index) => `a${index}@example.org`)
    const { body } = await call('sendEmails', { to, subject: 'News', textBody: 'a'.repeat(900_000) })
    expect(body).toMatchObject({ result: { sent: 12 } })
    const sizes = requests.map(({ text }) => text.length)
    expect([sizes.length, Math.max(...sizes) < 2_000_000]).toEqual([6, true])
  })

  it('composes at most 8 MB of all batches of one deployment at a time', async () => {
    const { calls, letGo, fetch } = holdCalls()
    const handle = webhook.handler({ fetch })
    const given = { to: [mail.to, mail.to], subject: 'News', textBody: 'a'.repeat(900_000) }
    const batches = Array.from({ length: 6 }, () => deliver(handle, event(shared, 'sendEmails', given)))
    await expect.poll(calls).toBe(4)
    await deliver(handle, event(shared, 'getDeliveryStats', {}))
    expect(calls()).toBe(4)
    letGo()
    for (const { body } of await Promise.all(batches)) expect(body).toMatchObject({ result: { sent: 2 } })
  })

  it('sends with the host’s server while the servers of deployments hold up all of their own memory', async () => {
    const { calls, letGo, fetch } = holdCalls()
    const egress: Egress = { refuse: () => undefined, fetch }
    // Another origin than the one that the deployments bring.
    const baseUrl = webhook.url.replace('127.0.0.1', 'localhost')
    const handle = webhook.handler({ egress, baseUrl, timeoutMs: 600_000 })
    const given = { to: [mail.to], subject: 'News', textBody: 'a'.repeat(1_900_000) }
    const outputs = { apiToken: 'dedicated-token', apiUrl: webhook.url, messageStream: 'outbound' }
    const batches = Array.from({ length: 14 }, (_, at) => {
      const deployment = { id: `dep_${at % 4}`, outputs: { ...outputs, fromEmail: 'me@example.com' } }
      return deliver(handle, event(deployment, 'sendEmails', given))
    })
    // Of all, 24 MB.
    await expect.poll(calls).toBe(12)
    const functionCall = { name: 'sendEmails', arguments: given }
    const { body } = await deliver(handle, { name: 'FUNCTION_CALL', functionCall })
    expect([body, calls()]).toMatchObject([{ result: { sent: 1 } }, 12])
    letGo()
    for (const each of await Promise.all(batches)) expect(each.body).toMatchObject({ result: { sent: 1 } })
  })

  it('lets others work while it answers for each of 4,000 invalid messages', async () => {
    let turns = 0
    const others = setInterval(() => {
      turns += 1
    })
    const given = { messages: Array(4_000).fill({ ...mail, to: 'nobody' }) }
    const handle = webhook.handler({ timeoutMs: 600_000 })
    const { body } = await deliver(handle, event(shared, 'sendEmails', given))
    clearInterval(others)
    expect(body).toMatchObject({ result: { failed: 4_000 } })
    expect([turns > 10, requests]).toEqual([true, []])
  })
})
