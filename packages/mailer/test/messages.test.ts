import { expect, it } from 'vitest'
import type { Attachment, MailerOptions, Message } from '../src/index.ts'
import { addressOf, endOf, failureOf, message, runMailProvider } from './support.ts'

const mail = runMailProvider()
const { provider, requests } = mail
const texts = (each: Message['headers']) => ({ headers: each, metadata: each })
const file = (content: Attachment['content'], fields: object = {}) =>
  Object.assign({ name: 'a.dat', content, contentType: 'a/b' }, fields)

const defaults = {
  ...{ tag: 'shop', replyTo: { name: 'Help', address: 'help@example.com' }, trackOpens: true },
  ...{ headers: { 'X-Shop': 'books', Precedence: 'bulk' }, metadata: { 'x-shop': 'books', region: 'eu' } },
  trackLinks: 'HtmlOnly',
} as const
const filled = {
  ...{ Tag: 'shop', ReplyTo: 'Help <help@example.com>', TrackOpens: true, TrackLinks: 'HtmlOnly' },
  Headers: Object.entries(defaults.headers).map(([Name, Value]) => ({ Name, Value })),
  Metadata: defaults.metadata,
}
const own = {
  ...{ tag: 'order', replyTo: 'sales@example.com', trackOpens: false, trackLinks: 'None' },
  ...texts({ 'x-shop': 'music' }),
}
const merged = {
  ...{ Tag: 'order', ReplyTo: 'sales@example.com', TrackOpens: false, TrackLinks: 'None' },
  Headers: [{ Name: 'x-shop', Value: 'music' }, filled.Headers[1]],
  Metadata: { 'x-shop': 'music', region: 'eu' },
}
const numbered = { Headers: [{ Name: 'x-order', Value: '7' }], Metadata: { 'x-order': '7' } }
const named = ['from', 'cc', 'bcc', 'replyTo', 'tag', 'messageStream', 'trackLinks', 'attachments']
const absent = (value: unknown, ...more: string[]) =>
  Object.fromEntries([...named, ...more].map((name) => [name, value]))
const bodies = ['htmlBody', 'body', 'key']

it.each<[string, object, object, Partial<MailerOptions>?]>([
  ['the stream of the mailer', {}, { MessageStream: 'broadcast' }, { messageStream: 'broadcast' }],
  ['a single quote mark', { to: 'Ada "1 <a@b.co>' }, { To: String.raw`"Ada \"1" <a@b.co>` }],
  ['the defaults of the mailer', {}, filled, { defaults }],
  ['its own fields, and texts merged by name', own, merged, { defaults }],
  ['Headers', texts(new Headers({ 'x-order': '7' })), numbered],
  ['a Map', texts(new Map([['x-order', 7]])), numbered],
  ['the provider’s list', texts([{ Name: 'x-order', Value: 7 }]), numbered],
  ['numbers and null by name', texts({ 'x-order': 7, 'x-none': null }), numbered],
  ['null fields', absent(null, ...bodies, 'headers', 'metadata', 'unknown'), filled, { defaults }],
  ['empty fields', { ...absent('', ...bodies), ...texts({ 'X-A': '' }) }, filled, { defaults }],
  ['empty lists', absent([]), filled, { defaults }],
])('sends a message with %s', async (_, fields, expected, options) => {
  await mail.mailer(options).sendEmail(Object.assign(message(), fields))
  const head = { From: 'Shop <shop@example.com>', To: 'ann@example.org', Subject: 'Hello' }
  const wire = { ...head, TextBody: 'Hi Ann', MessageStream: 'outbound', ...expected }
  expect(JSON.parse(requests[0]?.text ?? '')).toEqual(wire)
})

it('sends the headers that mailers set themselves, and does not change the message', async () => {
  const names = ['Message-ID', 'List-Unsubscribe', 'In-Reply-To', 'References', 'Precedence', 'X-PM-KeepID']
  const more = ['Content-Language', 'Disposition-Notification-To', 'Feedback-ID', 'X-Received-From']
  const headers = Object.freeze(Object.fromEntries([...names, ...more].map((name) => [name, '<1@b.c>'])))
  await mail.mailer().sendEmail(Object.freeze(message({ headers, to: Object.freeze(['ann@example.org']) })))
  expect(provider.messages[0]?.headers.map(({ name }) => name)).toEqual(Object.keys(headers))
})

it('sends files of every form, and images with the prefix of their id', async () => {
  const padded = new TextEncoder().encode('[hello]')
  const contents: Attachment['content'][] = [
    ...['aGVs\r\nbG8=\r\n', Buffer.from('hello'), padded.slice(1, 6).buffer, new Blob(['hello'])],
    ...[padded.subarray(1, 6), new DataView(padded.buffer, 1, 5), new File(['hello'], 'other.txt')],
  ]
  const images = ['logo', 'cid:logo'].map((contentId) => file('aGVsbG8=', { contentId }))
  const attachments = [...contents.map((content) => file(content)), ...images]
  await mail.mailer().sendEmail(message({ attachments }))
  const ids = [...contents.map(() => undefined), 'cid:logo', 'cid:logo']
  expect(provider.messages[0]?.attachments).toEqual(ids.map((contentId) => file('aGVsbG8=', { contentId })))
})

it('sends the texts that functions and promises render, in one mail and in a batch', async () => {
  class Welcome {
    readonly to = 'ada@example.org'
    readonly htmlBody = () => '<p>Hi</p>'
    readonly textBody = async () => 'Hi'
    get subject() {
      return 'Welcome'
    }
  }
  const promised = message({ subject: 'Welcome', body: Promise.resolve('<p>Hi</p>'), textBody: 'Hi' })
  await mail.mailer().sendEmail(new Welcome())
  await mail.mailer().sendEmails([new Welcome(), promised])
  const rendered = { subject: 'Welcome', htmlBody: '<p>Hi</p>', textBody: 'Hi' }
  expect(provider.messages).toMatchObject([rendered, rendered, rendered])
})

it('sends the provider’s own token header only to the provider, and trims the token', async () => {
  const seen: (string | null)[][] = []
  const fetch: typeof globalThis.fetch = (input, init) => {
    const { url, headers } = new Request(input, init)
    const tokens = ['x-mailer-server-token', 'x-postmark-server-token'].map((name) => headers.get(name))
    seen.push([new URL(url).host, ...tokens])
    return provider.fetch(input, init)
  }
  for (const baseUrl of [undefined, 'https://mail.example.com'])
    await mail.mailer({ fetch, baseUrl, apiToken: ' server-token\n' }).sendEmail(message())
  expect(seen).toEqual([
    ['api.postmarkapp.com', 'server-token', 'server-token'],
    ['mail.example.com', 'server-token', null],
  ])
})

const recipients = Array.from({ length: 49 }, (_, index) => addressOf(index))
const circle: Record<string, unknown> = {}
circle.self = circle
const reason = new TypeError('secret-words')
const fail = () => {
  throw reason
}
const throwing = new Proxy({}, { get: fail, ownKeys: fail })
type Row = [what: string, fields: object, ...faults: string[]]

const controls = ['\r\nBcc: e@b.co', '\u0000', '\u0085', '\u009b', '\u2028', '\u2029'].map((text): Row => {
  const lines = { subject: `a${text}`, tag: `a${text}`, messageStream: `a${text}` }
  const byName = { headers: { 'X-A': text, [text]: '7' }, metadata: { order: text, [text]: '7' } }
  const named = { to: { name: text, address: 'a@b.co' }, attachments: [file('SGk=', { name: text })] }
  const places = ['to', ...Object.keys(lines), 'headers.X-A', 'headers', 'metadata.order', 'metadata']
  const what = `the control character ${JSON.stringify(text)}`
  return [what, { ...lines, ...byName, ...named }, ...places, 'attachments[0].name']
})
const reserved = [
  ...['BCC', 'Cc', 'To', 'From', 'Sender', 'Reply-To', 'Subject', 'Date', 'MIME-Version', 'Content-Type'],
  ...['content-id', 'Return-Path', 'Received-SPF', 'Apparently-To', 'Delivered-To', 'X-Original-To'],
  ...['X-Envelope-From', 'DKIM-Signature', 'Authentication-Results', 'ARC-Seal', 'Resent-Bcc', 'x-order'],
]
const headers = ['X-Order', ...reserved].map((Name) => ({ Name, Value: 'x' }))
const one = 'expected one address'
const addresses: [address: unknown, fault: string][] = [
  ['žofie@example.org', 'only ASCII before the @'],
  ['a@bücher.example', 'punycode'],
  [`${'a'.repeat(65)}@b.co`, one],
  ...['a@b%C3%BCcher.example', 'a@b..co', 'a@-b.co'].map((each): [string, string] => [each, one]),
  ['Ada <a@example.org> <b@example.org>', one],
  ['a@b.c, d@e.f', 'has several addresses'],
  ['Ann <a@b.c>, Dan <d@e.f>', 'has several addresses'],
  ['a@b.c; Dan <d@e.f>', one],
  [`${'‹'.repeat(999)} <ann@example.org>`, 'its name has more than'],
  [7, one],
  [{ email: 'a@b.co' }, 'has a field that no address has'],
]
const files: [content: unknown, fields: object, fault: string][] = [
  [7, {}, 'content must be a Blob'],
  [' \n', {}, 'content must not be empty'],
  [new Blob([]), {}, 'content must not be empty'],
  ['Hello Ada!', {}, 'content is not base64'],
  ['aGVsbG8', {}, 'content is not base64'],
  ['aGVs_G8=', {}, 'content is not base64'],
  ['aG=sbG8=', {}, 'content is not base64'],
  [`${'A'.repeat(9_000_000)}%`, {}, 'content is not base64'],
  ['aGVs', { name: '' }, 'name is required'],
  ['aGVs', { contentType: 7 }, 'contentType must be text'],
  ['aGVs', { ContentID: 'logo' }, 'ContentID is no field of an attachment: the nearest is contentId'],
  ['aGVs', { contentId: 'my logo' }, 'contentId is invalid'],
]
const attachments = files.map(([content, fields]) => Object.assign(file(''), { content }, fields))
const nearest = { html: 'htmlBody', htmlBdy: 'htmlBody', reply_to: 'replyTo', stream: 'messageStream' }
const unknown = Object.entries(nearest).map(
  ([name, field]) => `${name} is no field of a message: the nearest is ${field}`,
)
// Callers without types send anything.
const untyped = {
  ...{ from: ['a@b.c'], subject: 7, tag: ['a'], headers: ['X-A: b'], trackOpens: 'yes', trackLinks: 'All' },
  ...{ metadata: { order: 7n, n: Number.NaN, ...circle }, textBody: {}, key: 0 / 0, attachments: 'a.txt' },
}

it.each<Row>([
  ['no recipient, subject and body', { to: [], subject: '', textBody: '' }, 'to', 'subject', 'htmlBody'],
  ['a name without an address', { to: '', bcc: 'Ann <>', from: 'Shop' }, 'to', 'bcc', 'from'],
  ['two HTML bodies', { body: '<p>a</p>', htmlBody: '<p>b</p>' }, 'body is an alias'],
  ['51 recipients', { to: recipients, cc: 'b@example.org', bcc: 'c@example.org' }, 'to may have 50'],
  ['more than 10 MB', { textBody: 'secret-words'.repeat(900_000) }, ' it is larger than 10 MB'],
  ...controls,
  ['headers of others', texts(headers), ...reserved.map((name) => `headers.${name}`)],
  [
    'addresses that are none',
    { to: addresses.map(([address]) => address) },
    ...addresses.map(([, fault], at) => `to[${at}] ${fault}`),
  ],
  ['unknown fields', { ...nearest, quux: 'secret-words' }, ...unknown, 'quux is no field of a message'],
  [
    'values of other types',
    untyped,
    ...['from', 'subject', 'tag', 'headers', 'metadata.order', 'metadata.n', 'metadata.self', 'trackOpens'],
    ...['trackLinks', 'textBody', 'key', 'attachments must be a list'],
  ],
  ['faulty files', { attachments }, ...files.map(([, , fault], at) => `attachments[${at}].${fault}`)],
  ['a file that is a text', { attachments: ['a.txt'], key: true }, 'key', 'attachments[0] must be an object'],
  ['a file that throws', { attachments: [throwing] }, 'attachments[0]'],
  ['metadata that throws', { metadata: throwing }, ''],
  ['a getter that throws', Object.defineProperty({}, 'subject', { get: fail }), ''],
])('does not send a message with %s, and names only the place', async (_, fields, ...faults) => {
  const whole = Object.defineProperties(message(), Object.getOwnPropertyDescriptors(fields))
  const error = await failureOf(mail.mailer().sendEmail(whole))
  expect(error).toMatchObject({ code: 'invalid_arguments', retryable: false, effect: 'none' })
  const expected = faults.map((fault) => {
    const [path, ...words] = fault.split(' ')
    return { path, message: expect.stringContaining(words.join(' ')) }
  })
  expect(error.errors).toEqual(expected)
  expect(error.message + JSON.stringify(error.errors)).not.toMatch(/example\.|secret-words|Bcc:|[\r\n]/)
  expect(requests).toEqual([])
})

it.each<[string, object, object]>([
  ['throws', { htmlBody: fail }, { errors: [{ path: 'htmlBody' }], cause: reason }],
  ['rejects after another threw', { htmlBody: async () => fail(), textBody: fail }, { cause: reason }],
  ['is no text', { htmlBody: () => ({}) }, { errors: [{ path: 'htmlBody', message: 'must be text' }] }],
  ['stands beside an unknown field', { htmlBody: () => 'Hi', html: 'Hi' }, { errors: [{ path: 'html' }] }],
])('refuses a message whose template %s, and fails it alone in a batch', async (_, fields, expected) => {
  const given = Object.assign(message(), fields)
  const error = await failureOf(mail.mailer().sendEmail(given))
  expect(error).toMatchObject({ code: 'invalid_arguments', ...expected })
  expect(error.message).not.toContain('secret-words')
  const { fates } = await endOf(mail.mailer().sendEmails([message(), given, message()]))
  expect(fates).toBe('1 sent,1 failed,1 sent')
})

it('does not wait for a template beyond the signal of its call', async () => {
  const leave = new AbortController()
  const htmlBody = () => {
    leave.abort(reason)
    return new Promise<string>(() => {})
  }
  const sending = mail.mailer().sendEmail(message({ htmlBody }), { signal: leave.signal })
  expect(await failureOf(sending)).toMatchObject({ code: 'aborted', effect: 'none', cause: reason })
})

it('refuses what is no message', async () => {
  for (const given of [null, undefined, 7, () => message(), throwing]) {
    const { code, errors } = await failureOf(Reflect.apply(mail.mailer().sendEmail, undefined, [given]))
    expect([code, errors]).toMatchObject(['invalid_arguments', [{ path: '' }]])
  }
})

it('is not made with an invalid token, and does not send without a sender', async () => {
  const refusal = { code: 'missing_credentials', retryable: false, effect: 'none' }
  for (const apiToken of ['', ' ', 'a\nb', 'tökén'])
    expect(() => mail.mailer({ apiToken })).toThrow(expect.objectContaining(refusal))
  const error = await failureOf(mail.mailer({ fromEmail: '' }).sendEmail(message()))
  expect(error.errors).toMatchObject([{ path: 'from', message: expect.stringContaining('no fromEmail') }])
})

it('sends to 50 recipients 10 MB, and refuses one more byte', async () => {
  const limit = 10 * 1024 * 1024
  const all = { to: recipients.slice(1), cc: 'b@example.org', bcc: 'c@example.org' }
  await mail.mailer().sendEmail(message({ ...all, textBody: 'a', htmlBody: 'a' }))
  const overhead = (requests[0]?.text.length ?? 0) - 2
  const half = 'a'.repeat(limit / 2)
  const largest = message({ ...all, textBody: half, htmlBody: half.slice(overhead) })
  await mail.mailer().sendEmail(largest)
  expect(requests[1]?.text).toHaveLength(limit)
  const error = await failureOf(mail.mailer().sendEmail({ ...largest, subject: `${largest.subject}!` }))
  expect([error.code, requests.length]).toEqual(['invalid_arguments', 2])
})

it('refuses files of more than 10 MB together, whatever their form', async () => {
  const bytes = new Uint8Array(2_000_000)
  const three = [bytes, Buffer.from(bytes).toString('base64'), bytes].map((content) => file(content))
  await mail.mailer().sendEmail(message({ attachments: three }))
  const four = message({ attachments: [...three, file(bytes)] })
  const { errors } = await failureOf(mail.mailer().sendEmail(four))
  expect(errors).toEqual([{ path: '', message: expect.stringContaining('10 MB') }])
})

const faulty = Object.fromEntries(Array.from({ length: 2_000 }, (_, at) => [`X-${at}`, '\n']))
it.each<[string, Partial<Message>]>([
  ['an address without an end', { to: `a@${'b.'.repeat(1_000_000)}c` }],
  ['a name of quotes', { to: `${'"\\'.repeat(500_000)} <a@b.c>@` }],
  ['a million recipients', { to: Array.from({ length: 1_000_000 }, () => 'nobody') }],
  ['a header’s name of a million letters', { headers: { ['x'.repeat(1_000_000)]: 'a' } }],
  ['2,000 faults', { headers: faulty }],
])('refuses %s with a short error', async (_, fields) => {
  const { code, message: text, errors } = await failureOf(mail.mailer().sendEmail(message(fields)))
  expect([code, JSON.stringify([text, errors]).length < 5_000]).toEqual(['invalid_arguments', true])
})

it('returns the id of the mail, its recipients as the provider names them, and the time in UTC', async () => {
  const result = await mail.mailer().sendEmail(message({ to: ['Ann <ann@example.org>', 'bob@example.org'] }))
  const { messageId, submittedAt = '' } = provider.messages[0] ?? {}
  const expected = { messageId, submittedAt: new Date(submittedAt).toISOString(), rejected: [] }
  expect(result).toEqual({ ...expected, to: 'Ann <ann@example.org>, bob@example.org' })
  const [body, To] = [{ ErrorCode: 0, MessageID: 'id-1' }, '"Ann" <ANN@example.org>']
  provider.faults.add(...[body, { ...body, To }, [{ ...body, To }]].map((body) => ({ status: 200, body })))
  const bare = await mail.mailer().sendEmail(message())
  expect(bare).toMatchObject({ messageId: 'id-1', to: 'ann@example.org' })
  expect(await mail.mailer().sendEmail(message())).toMatchObject({ to: To })
  expect((await mail.mailer().sendEmails([message()])).results).toMatchObject([{ to: To }])
  expect(Date.parse(bare.submittedAt)).not.toBeNaN()
})

it('names the recipients that the provider left out, as its words say', async () => {
  const rejected = ['Gone@example.org', 'left@example.org']
  const Message = 'Message OK, but will not deliver to: <GONE@Example.org>; Left@example.org.'
  provider.faults.add({ status: 200, body: { ErrorCode: 0, MessageID: 'id-1', Message } })
  const result = await mail.mailer().sendEmail(message({ to: ['ann@example.org', ...rejected] }))
  expect(result).toMatchObject({ rejected })
})
