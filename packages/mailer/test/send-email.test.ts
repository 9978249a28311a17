import { expect, it } from 'vitest'
import type { Message } from '../src/index.ts'
import { message, runMailProvider } from './support.ts'

const { provider, requests, mailer } = runMailProvider()

it.each<[string, Partial<Message>, object]>([
  ['fromEmail and the default stream', {}, {}],
  ['a sender of its own', { from: 'Help <help@example.com>' }, { From: 'Help <help@example.com>' }],
  ['no empty list', { cc: [], bcc: [], replyTo: [] }, {}],
  [
    'a name with a single quote mark',
    { to: 'Ada "the first <ann@example.org>' },
    { To: String.raw`"Ada \"the first" <ann@example.org>` },
  ],
])('sends a message with %s', async (_what, fields, expected) => {
  await mailer().sendEmail(message(fields))
  const From = 'Shop <shop@example.com>'
  const wire = {
    From,
    To: 'ann@example.org',
    Subject: 'Hello',
    TextBody: 'Hi Ann',
    MessageStream: 'outbound',
  }
  expect(requests.map(({ text }) => JSON.parse(text))).toEqual([{ ...wire, ...expected }])
  expect(provider.messages).toHaveLength(1)
})

it('sends the provider’s own token header only to the provider itself', async () => {
  const seen: (string | null)[][] = []
  const fetch: typeof globalThis.fetch = (input, init) => {
    const { url, headers } = new Request(input, init)
    const tokens = ['x-mailer-server-token', 'x-postmark-server-token'].map((name) => headers.get(name))
    seen.push([new URL(url).host, ...tokens])
    return provider.fetch(input, init)
  }
  await mailer({ fetch, baseUrl: undefined }).sendEmail(message())
  await mailer({ fetch, baseUrl: 'https://mail.example.com' }).sendEmail(message())
  expect(seen).toEqual([
    ['api.postmarkapp.com', 'server-token', 'server-token'],
    ['mail.example.com', 'server-token', null],
  ])
})

it('trims the token, because a file ends with a line break', async () => {
  await mailer({ apiToken: ' server-token\n' }).sendEmail(message())
  expect(requests[0]?.headers.get('x-mailer-server-token')).toBe('server-token')
})

it('sends to the message stream of the mailer', async () => {
  await mailer({ messageStream: 'broadcast' }).sendEmail(message())
  expect(provider.messages).toMatchObject([{ messageStream: 'broadcast' }])
})

it('does not change the message', async () => {
  const to = Object.freeze(['ann@example.org'])
  const frozen = Object.freeze(message({ to, headers: Object.freeze({ 'X-A': 'b' }) }))
  await mailer().sendEmail(frozen)
  expect(frozen).toEqual(message({ to: ['ann@example.org'], headers: { 'X-A': 'b' } }))
})

it('returns the message’s id, its recipients and the time in UTC', async () => {
  const result = await mailer().sendEmail(message({ to: ['Ann <ann@example.org>', 'bob@example.org'] }))
  expect(result).toEqual({
    messageId: provider.messages[0]?.messageId,
    submittedAt: new Date(provider.messages[0]?.submittedAt ?? '').toISOString(),
    to: 'Ann <ann@example.org>, bob@example.org',
    rejected: [],
    notice: null,
  })
})

it('returns the recipients that the provider left out, as the message spells them', async () => {
  for (const address of ['gone@example.org', "o'neil@example.org"]) provider.inactive.add(address)
  const to = ['Ann <ann@example.org>', 'Gone@Example.org']
  const { rejected, notice } = await mailer().sendEmail(message({ to, cc: "O'Neil <o'neil@example.org>" }))
  expect([rejected, notice]).toEqual([['Gone@Example.org', "o'neil@example.org"], null])
})

const longWording = `Message OK, but will not deliver to these inactive addresses: gone@example.org, left@example.org.
  Inactive recipients are ones that have generated a hard bounce, a spam complaint, or a manual suppression.`

it.each([
  ['Message OK, but will not deliver to: <GONE@Example.org>; Left@example.org.', true, null],
  [longWording, true, null],
  ['Test job accepted', false, null],
  ['Held for review by ops@provider.example.', false, 'Held for review by [address].'],
])('reads the provider’s words beside an accepted message: %s', async (Message, areRejected, notice) => {
  provider.faults.add({ status: 200, body: { ErrorCode: 0, MessageID: 'id-1', Message } })
  const left = ['gone@example.org', 'left@example.org']
  const result = await mailer().sendEmail(message({ to: ['ann@example.org', ...left] }))
  expect(result).toMatchObject({ rejected: areRejected ? left : [], notice })
})

it('searches 20,000 characters of the provider’s words for recipients', async () => {
  const to = Array.from({ length: 50 }, (_, index) => `${index}@${'x'.repeat(60)}.example.org`)
  const remark = (pause: number) => ({
    ErrorCode: 0,
    MessageID: 'id-1',
    Message: `${' '.repeat(pause)}${to}`,
  })
  for (const pause of [0, 20_000]) {
    provider.faults.add({ status: 200, body: remark(pause) })
    expect((await mailer().sendEmail(message({ to }))).rejected).toHaveLength(pause === 0 ? 50 : 0)
  }
})

it.each([
  ['MessageID', 'i'.repeat(501)],
  ['To', 'a@b.cc,'.repeat(15_000)],
])('does not take an answer with a %s that no provider writes', async (name, text) => {
  provider.faults.add({ status: 200, body: { ErrorCode: 0, MessageID: 'id-1', [name]: text } })
  await expect(mailer().sendEmail(message())).rejects.toThrow('an unexpected body')
})

it('fills in the recipients and the time if the provider leaves them out', async () => {
  provider.faults.add({ status: 200, body: { ErrorCode: 0, MessageID: 'id-1' } })
  const result = await mailer().sendEmail(message())
  expect(result).toMatchObject({ messageId: 'id-1', to: 'ann@example.org', rejected: [], notice: null })
  expect(Date.parse(result.submittedAt)).not.toBeNaN()
})

it.each<[string, Message['headers']]>([
  ['Headers', new Headers({ 'x-order': '7' })],
  ['a Map', new Map([['x-order', 7]])],
  ['the provider’s list', [{ Name: 'x-order', Value: 7 }]],
  ['a list of names and values', [{ name: 'x-order', value: '7' }]],
  ['an object with numbers and null', { 'x-order': 7, 'x-none': null }],
])('takes headers and metadata as %s', async (_, texts) => {
  await mailer().sendEmail(message({ headers: texts, metadata: texts }))
  const sent = JSON.parse(requests[0]?.text ?? '')
  expect([sent.Metadata, sent.Headers]).toEqual([{ 'x-order': '7' }, [{ Name: 'x-order', Value: '7' }]])
})

it('takes the null of a database row for an absent field', async () => {
  const none = {
    cc: null,
    from: null,
    tag: null,
    headers: null,
    attachments: null,
    htmlBody: null,
    key: null,
  }
  await mailer().sendEmail({ ...none, to: 'ann@example.org', subject: 'Hi', textBody: 'Hi' })
  expect(Object.keys(JSON.parse(requests[0]?.text ?? ''))).toEqual([
    ...['To', 'From', 'Subject', 'MessageStream', 'TextBody'],
  ])
})
