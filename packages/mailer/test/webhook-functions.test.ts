import { deliver } from '@org/core/testing'
import { describe, expect, it } from 'vitest'
import { runWebhook } from './webhook-support.ts'

const arrangement = runWebhook()
const { provider, requests, platform, call, send } = arrangement

const mail = { to: 'ann@example.org', subject: 'Hello', textBody: 'private words' }
const refused = (path: string, message: unknown = expect.any(String)) => ({
  status: 422,
  body: { code: 'invalid_arguments', retryable: false, errors: [{ path, message }] },
})

describe.each(['sendEmail', 'send'])('%s', (name) => {
  it('sends with the shared server where no deployment is named', async () => {
    const { status, body } = await call(name, mail)
    const { messageId } = provider.messages[0] ?? {}
    const result = {
      messageId,
      submittedAt: expect.stringMatching(/Z$/),
      to: 'ann@example.org',
      rejected: [],
    }
    expect([status, body]).toEqual([200, { result }])
    expect(provider.messages).toMatchObject([{ from: 'Shop <shop@example.com>', textBody: 'private words' }])
  })

  it('sends with what the event says that the deployment published', async () => {
    const outputs = {
      apiToken: 'dedicated-token',
      apiUrl: arrangement.url,
      messageStream: 'broadcast',
      fromEmail: 'me@example.com',
    }
    const functionCall = { name, arguments: mail }
    await send({ name: 'FUNCTION_CALL', deployment: { id: 'dep_1', outputs }, functionCall })
    expect(provider.messages).toMatchObject([{ from: 'me@example.com', messageStream: 'broadcast' }])
    expect(requests[0]?.headers.get('x-mailer-server-token')).toBe('dedicated-token')
  })
})

describe('sendEmail', () => {
  const functionCall = { name: 'sendEmail', arguments: mail }

  it('reads the credentials from the platform where the event has none', async () => {
    const { outputs } = platform.addDeployment({ id: 'dep_1' })
    Object.assign(outputs, {
      apiToken: 'dedicated-token',
      apiUrl: arrangement.url,
      messageStream: 'outbound',
    })
    const event = {
      name: 'FUNCTION_CALL',
      deployment: { id: 'dep_1' },
      functionCall: { name: 'sendEmail', arguments: { ...mail, from: 'me@example.com' } },
    }
    const answer = await send(event)
    expect(answer.status).toBe(200)
    expect(requests[0]?.headers.get('x-mailer-server-token')).toBe('dedicated-token')
    expect(platform.calls.map(({ method, path }) => `${method} ${path}`)).toEqual(['GET /deployments/dep_1'])
  })

  it('falls back on the inputs where nothing was published yet', async () => {
    const inputs = { serverType: 'dedicated', apiToken: 'dedicated-token', fromEmail: 'me@example.com' }
    platform.addDeployment({ id: 'dep_1', inputs })
    await send({ name: 'FUNCTION_CALL', deployment: { id: 'dep_1' }, functionCall })
    expect(provider.messages).toMatchObject([{ from: 'me@example.com' }])
  })

  it('takes the shared token to its own provider alone, whatever base URL an event brings', async () => {
    const { outputs } = platform.addDeployment({ id: 'dep_1' })
    Object.assign(outputs, { apiToken: 'shared-token', apiUrl: arrangement.url, messageStream: 'outbound' })
    const deployment = { id: 'dep_1', outputs: { apiUrl: 'http://127.0.0.1:9' } }
    const given = { ...mail, from: 'me@example.com' }
    await send({ name: 'FUNCTION_CALL', deployment, functionCall: { name: 'sendEmail', arguments: given } })
    expect(provider.messages).toHaveLength(1)
  })

  it('passes everything on that a message can have', async () => {
    await call('sendEmail', {
      to: ['Ann <ann@example.org>', 'bob@example.org'],
      cc: 'carl@example.org',
      bcc: ['dora@example.org'],
      replyTo: 'help@example.com',
      from: 'me@example.com',
      subject: 'Hello',
      body: '<p>Hi</p>',
      tag: 'welcome',
      messageStream: 'broadcast',
      headers: { 'X-Order': '7' },
      metadata: { order: '7' },
      attachments: [{ name: 'a.txt', content: 'SGk=', contentType: 'text/plain' }],
      trackOpens: true,
      trackLinks: 'TextOnly',
    })
    expect(provider.messages[0]?.raw).toEqual({
      From: 'me@example.com',
      To: 'Ann <ann@example.org>, bob@example.org',
      Cc: 'carl@example.org',
      Bcc: 'dora@example.org',
      ReplyTo: 'help@example.com',
      Subject: 'Hello',
      HtmlBody: '<p>Hi</p>',
      Tag: 'welcome',
      MessageStream: 'broadcast',
      Headers: [{ Name: 'X-Order', Value: '7' }],
      Metadata: { order: '7' },
      Attachments: [{ Name: 'a.txt', Content: 'SGk=', ContentType: 'text/plain' }],
      TrackOpens: true,
      TrackLinks: 'TextOnly',
    })
  })

  it.each<[object, string, unknown]>([
    [{ ...mail, sbject: 'Hello' }, 'sbject', expect.stringContaining('“subject”')],
    [{ ...mail, reply_to: 'a@example.org' }, 'reply_to', expect.stringContaining('“replyTo”')],
    [{ ...mail, subject: 7 }, 'subject', expect.stringContaining('string')],
    [{ subject: 'Hello', textBody: 'Hi' }, 'to', expect.stringContaining('required')],
    [{ ...mail, cc: [7] }, 'cc', expect.stringContaining('list')],
    [{ ...mail, textBody: undefined }, 'htmlBody', expect.stringContaining('body')],
    [{ ...mail, to: ['ann@example.org', 'a\r\nb'] }, 'to[1]', expect.any(String)],
    [{ ...mail, subject: 'a\r\nBcc: eve@example.org' }, 'subject', expect.stringContaining('line break')],
    [
      { ...mail, attachments: [{ name: 'a', content: '%', contentType: 'a/b' }] },
      'attachments[0].content',
      expect.stringContaining('base64'),
    ],
  ])('refuses %j, and names the place', async (given, path, words) => {
    expect(await call('sendEmail', given)).toMatchObject(refused(path, words))
    expect(requests).toEqual([])
  })

  it('passes the provider’s refusal on, without the addresses in it', async () => {
    provider.inactive.add('ann@example.org')
    const answer = await call('sendEmail', mail)
    expect(answer).toMatchObject({
      status: 422,
      body: {
        code: 'provider_rejected',
        retryable: false,
        provider: { name: 'mailer', status: 422, code: '406' },
      },
    })
    expect(JSON.stringify(answer.body)).not.toContain('@')
  })

  it('passes the provider’s words on without a token in them', async () => {
    const Message = 'Not with shared-token.'
    provider.faults.add({ status: 422, body: { ErrorCode: 402, Message } })
    const { body } = await call('sendEmail', mail)
    expect(body).toHaveProperty('provider.message', 'Not with [redacted].')
    expect(JSON.stringify(body)).not.toContain('shared-token')
  })

  it('says what the host lacks where there is no shared server', async () => {
    const handler = arrangement.handler({ shared: undefined })
    expect(await deliver(handler, { name: 'FUNCTION_CALL', functionCall })).toMatchObject({
      status: 422,
      body: { code: 'missing_credentials' },
    })
  })
})

describe.each(['sendEmails', 'sendBatch'])('%s', (name) => {
  it('sends messages, each with its own result, and a bad one fails alone', async () => {
    provider.inactive.add('gone@example.org')
    const messages = [
      mail,
      { ...mail, to: 'gone@example.org' },
      { ...mail, sbject: 'Hello' },
      { ...mail, to: 'nobody' },
      'no message',
      { ...mail, to: 'bob@example.org' },
    ]
    const { status, body } = await call(name, { messages })
    expect(status).toBe(200)
    expect(body).toMatchObject({
      result: {
        sent: 2,
        failed: 4,
        unknown: 0,
        results: [
          { index: 0, to: 'ann@example.org', status: 'sent', messageId: provider.messages[0]?.messageId },
          { index: 1, to: 'gone@example.org', status: 'failed', error: { code: 'provider_rejected' } },
          { index: 2, to: null, status: 'failed', error: { message: expect.stringContaining('“subject”') } },
          { index: 3, to: null, status: 'failed', error: { code: 'invalid_arguments' } },
          { index: 4, to: null, status: 'failed', error: { code: 'invalid_arguments' } },
          { index: 5, to: 'bob@example.org', status: 'sent', error: null },
        ],
      },
    })
    expect(provider.messages.map(({ to }) => to)).toEqual([['ann@example.org'], ['bob@example.org']])
  })

  it('sends to a list so that nobody sees the others', async () => {
    const to = ['ann@example.org', 'nobody', 'Bob <bob@example.org>']
    const { body } = await call(name, { to, subject: 'Hello', body: '<p>Hi</p>', tag: 'news' })
    expect(body).toMatchObject({
      result: { sent: 2, failed: 1, results: [{ index: 0 }, { index: 1, status: 'failed' }, { index: 2 }] },
    })
    expect(provider.messages).toMatchObject([
      { to: ['ann@example.org'], cc: [], bcc: [], htmlBody: '<p>Hi</p>', tag: 'news' },
      { to: ['bob@example.org'], cc: [], bcc: [], htmlBody: '<p>Hi</p>', tag: 'news' },
    ])
  })

  it.each<[object, string]>([
    [{}, 'messages'],
    [{ to: ['ann@example.org'], textBody: 'Hi' }, 'subject'],
    [{ messages: [mail], subject: 'Hello' }, 'subject'],
    [{ mesages: [mail] }, 'mesages'],
    [{ messages: mail }, 'messages'],
  ])('refuses %j as a whole', async (given, path) => {
    const answer = await call(name, given)
    expect(answer).toMatchObject({ status: 422, body: { code: 'invalid_arguments' } })
    expect(answer.body).toHaveProperty('errors[0].path', path)
    expect(requests).toEqual([])
  })
})

describe('sendEmails', () => {
  it('reports a call of which the outcome is not known, message by message', async () => {
    provider.faults.add({ cut: 'after' })
    expect(await call('sendEmails', { messages: [mail, mail] })).toMatchObject({
      status: 200,
      body: {
        result: { sent: 0, failed: 0, unknown: 2, results: [{ status: 'unknown' }, { status: 'unknown' }] },
      },
    })
    expect(provider.messages).toHaveLength(2)
  })

  it('fails as a whole where the token is wrong', async () => {
    provider.settings.apiTokens = []
    const answer = await call('sendEmails', { messages: [mail, mail] })
    expect(answer).toMatchObject({ status: 422, body: { code: 'credentials_rejected' } })
  })
})

describe('getDeliveryStats', () => {
  it('counts what is asked for', async () => {
    await call('sendEmail', { ...mail, tag: 'a', trackOpens: true })
    await call('sendEmail', { ...mail, tag: 'b' })
    const { body } = await call('getDeliveryStats', {
      tag: 'a',
      fromDate: '2020-01-01',
      messageStream: 'outbound',
    })
    expect(body).toEqual({
      result: { sent: 1, bounced: 0, bounceRate: 0, spamComplaints: 0, opens: 0, tracked: 1 },
    })
  })

  it.each<[object, string]>([
    [{ fromDate: 'yesterday' }, 'fromDate'],
    [{ todate: '2026-11-20' }, 'todate'],
  ])('refuses %j', async (given, path) => {
    expect(await call('getDeliveryStats', given)).toMatchObject(refused(path))
    expect(requests).toEqual([])
  })
})

it('a function that is mistyped is answered with the nearest name', async () => {
  expect(await call('sendEmial', mail)).toMatchObject({
    status: 404,
    body: { code: 'unknown_function', detail: expect.stringMatching(/“sendEmail”.*getDeliveryStats/) },
  })
})
