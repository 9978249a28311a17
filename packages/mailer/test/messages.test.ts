import { expect, it } from 'vitest'
import type { MailerOptions, Message } from '../src/index.ts'
import { failureOf, message, runMailProvider } from './support.ts'

const mail = runMailProvider()
const { provider, requests } = mail
const sent = () => JSON.parse(requests[0]?.text ?? '')

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
const own = { tag: 'order', replyTo: 'sales@example.com', trackOpens: false, trackLinks: 'None' }
const merged = {
  ...{ Tag: 'order', ReplyTo: 'sales@example.com', TrackOpens: false, TrackLinks: 'None' },
  Headers: [{ Name: 'x-shop', Value: 'music' }, filled.Headers[1]],
  Metadata: { 'x-shop': 'music', region: 'eu' },
}
const texts = (each: Message['headers']) => ({ headers: each, metadata: each })
const numbered = { Headers: [{ Name: 'x-order', Value: '7' }], Metadata: { 'x-order': '7' } }
const named = ['from', 'cc', 'bcc', 'replyTo', 'tag', 'messageStream', 'trackLinks', 'attachments']
const absent = (value: unknown, ...more: string[]) =>
  Object.fromEntries([...named, ...more].map((name) => [name, value]))

it.each<[string, object, object, Partial<MailerOptions>?]>([
  ['the stream of the mailer', {}, { MessageStream: 'broadcast' }, { messageStream: 'broadcast' }],
  ['a single quote mark', { to: 'Ada "1 <a@b.co>' }, { To: String.raw`"Ada \"1" <a@b.co>` }],
  ['the defaults of the mailer', {}, filled, { defaults }],
  [
    'its own fields, and texts merged by name',
    { ...own, ...texts({ 'x-shop': 'music' }) },
    merged,
    { defaults },
  ],
  ['Headers', texts(new Headers({ 'x-order': '7' })), numbered],
  ['a Map', texts(new Map([['x-order', 7]])), numbered],
  ['the provider’s list', texts([{ Name: 'x-order', Value: 7 }]), numbered],
  ['numbers and null by name', texts({ 'x-order': 7, 'x-none': null }), numbered],
  ['null fields', absent(null, 'htmlBody', 'body', 'key', 'headers', 'metadata'), filled, { defaults }],
  [
    'empty fields',
    { ...absent('', 'htmlBody', 'body', 'key'), ...texts({ 'X-A': '' }) },
    filled,
    { defaults },
  ],
  ['empty lists', absent([]), filled, { defaults }],
])('sends a message with %s', async (_, fields, expected, options) => {
  await mail.mailer(options).sendEmail(Object.assign(message(), fields))
  const head = { From: 'Shop <shop@example.com>', To: 'ann@example.org', Subject: 'Hello' }
  expect(sent()).toEqual({ ...head, TextBody: 'Hi Ann', MessageStream: 'outbound', ...expected })
})

it('sends the headers that mailers set themselves, and does not change the message', async () => {
  const names = ['Message-ID', 'List-Unsubscribe', 'In-Reply-To', 'References', 'Precedence', 'X-PM-KeepID']
  const more = ['Content-Language', 'Disposition-Notification-To', 'Feedback-ID', 'X-Received-From']
  const headers = Object.freeze(Object.fromEntries([...names, ...more].map((name) => [name, '<1@b.c>'])))
  await mail.mailer().sendEmail(Object.freeze(message({ headers, to: Object.freeze(['ann@example.org']) })))
  expect(provider.messages[0]?.headers.map(({ name }) => name)).toEqual(Object.keys(headers))
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

const many = Array.from({ length: 49 }, (_, index) => `a${index}@example.org`)
const circle: Record<string, unknown> = {}
circle.self = circle
const fail = () => {
  throw new TypeError('secret-words')
}
const throwing = new Proxy({}, { get: fail, ownKeys: fail })
type Row = [what: string, fields: object, paths: string[]]

const controls = ['\r\nBcc: e@b.co', '\u0000', '\u0085', '\u009b', '\u2028', '\u2029'].map((text): Row => {
  const lines = { subject: `a${text}`, tag: `a${text}`, messageStream: `a${text}` }
  const byName = { headers: { 'X-A': text, [text]: '7' }, metadata: { order: text, [text]: '7' } }
  const attachments = [{ name: text, content: 'SGk=', contentType: 'a/b' }]
  const places = ['to', ...Object.keys(lines), 'headers.X-A', 'headers', 'metadata.order', 'metadata']
  const fields = { ...lines, ...byName, to: { name: text, address: 'a@b.co' }, attachments }
  return [`the control character ${JSON.stringify(text)}`, fields, [...places, 'attachments[0].name']]
})
const reserved = [
  ...['BCC', 'Cc', 'To', 'From', 'Sender', 'Reply-To', 'Subject', 'Date', 'MIME-Version', 'Content-Type'],
  ...['content-id', 'Return-Path', 'Received-SPF', 'Apparently-To', 'Delivered-To', 'X-Original-To'],
  ...['X-Envelope-From', 'DKIM-Signature', 'Authentication-Results', 'ARC-Seal', 'Resent-Bcc'],
]

it.each<Row>([
  ['no recipient, subject and body', { to: [], subject: '', textBody: '' }, ['to', 'subject', 'htmlBody']],
  ['a name without an address', { to: '', bcc: 'Ann <>', from: 'Shop' }, ['to', 'bcc', 'from']],
  ['two HTML bodies', { body: '<p>a</p>', htmlBody: '<p>b</p>' }, ['body']],
  ['51 recipients', { to: many, cc: 'b@example.org', bcc: 'c@example.org' }, ['to']],
  ['more than 10 MB', { textBody: 'secret-words'.repeat(900_000) }, ['']],
  ...controls,
  [
    'reserved headers',
    texts(reserved.map((Name) => ({ Name, Value: 'x' }))),
    reserved.map((name) => `headers.${name}`),
  ],
  ['a header twice', { headers: { 'X-Order': 'a', 'x-order': 'b' } }, ['headers.x-order']],
  ['an endless name', { to: `${'‹'.repeat(999)} <ann@example.org>` }, ['to']],
  // Callers without types send anything.
  ['addresses that are none', { to: [7, { email: 'a@b.co' }], from: ['a@b.c'] }, ['to[0]', 'to[1]', 'from']],
  [
    'lines and bodies of other types',
    { subject: 7, tag: ['a'], textBody: {} },
    ['subject', 'tag', 'textBody'],
  ],
  [
    'values of wrong types',
    { trackOpens: 'yes', trackLinks: 'All', key: true },
    ['trackOpens', 'trackLinks', 'key'],
  ],
  ['numbers that are none', { metadata: { n: Number.NaN }, key: 0 / 0 }, ['metadata.n', 'key']],
  ['headers that are texts', { headers: ['X-A: b'], metadata: { order: 7n } }, ['headers', 'metadata.order']],
  ['a circle in metadata', { metadata: circle }, ['metadata.self']],
  ['an address with an unknown field', { cc: { address: 'a@example.org', nme: 'A' } }, ['cc']],
  ['files that are texts', { attachments: 'a.txt' }, ['attachments']],
  ['a file that is a text', { attachments: ['a.txt'] }, ['attachments[0]']],
  ['a file that throws', { attachments: [throwing] }, ['attachments[0]']],
  ['metadata that throws', { metadata: throwing }, ['']],
  ['a getter that throws', Object.defineProperty({}, 'subject', { get: fail }), ['']],
])('does not send a message with %s, and names only the place', async (_, fields, paths) => {
  const whole = Object.defineProperties(message(), Object.getOwnPropertyDescriptors(fields))
  const error = await failureOf(mail.mailer().sendEmail(whole))
  expect(error).toMatchObject({ code: 'invalid_arguments', retryable: false, effect: 'none' })
  expect(error.errors?.map(({ path }) => path)).toEqual(paths)
  expect(error.message).toContain(paths[0])
  expect(error.message + JSON.stringify(error.errors)).not.toMatch(/example\.|secret-words|Bcc:|[\r\n]/)
  expect(requests).toEqual([])
})

it('refuses what is no message', async () => {
  for (const given of [null, undefined, 7, () => message(), throwing]) {
    const { code, errors } = await failureOf(Reflect.apply(mail.mailer().sendEmail, undefined, [given]))
    expect([code, errors]).toMatchObject(['invalid_arguments', [{ path: '' }]])
  }
})

it('is not made with an invalid token or sender, and does not send without a sender', async () => {
  const refusal = { code: 'missing_credentials', retryable: false, effect: 'none' }
  for (const apiToken of ['', ' ', 'a\nb', 'tökén'])
    expect(() => mail.mailer({ apiToken })).toThrow(expect.objectContaining(refusal))
  const errors = [{ path: 'options.fromEmail', message: expect.stringContaining('must be one address') }]
  expect(() => mail.mailer({ fromEmail: 'Shop' })).toThrow(expect.objectContaining({ errors }))
  const error = await failureOf(mail.mailer({ fromEmail: '' }).sendEmail(message()))
  expect(error.errors).toMatchObject([{ path: 'from', message: expect.stringContaining('no fromEmail') }])
})

it('sends to 50 recipients 10 MB, and refuses one more byte', async () => {
  const limit = 10 * 1024 * 1024
  const recipients = { to: many.slice(1), cc: 'b@example.org', bcc: 'c@example.org' }
  await mail.mailer().sendEmail(message({ ...recipients, textBody: 'a', htmlBody: 'a' }))
  const overhead = (requests[0]?.text.length ?? 0) - 2
  const half = 'a'.repeat(limit / 2)
  const largest = message({ ...recipients, textBody: half, htmlBody: half.slice(overhead) })
  await mail.mailer().sendEmail(largest)
  expect(requests[1]?.text).toHaveLength(limit)
  const error = await failureOf(mail.mailer().sendEmail({ ...largest, subject: `${largest.subject}!` }))
  expect([error.code, requests.length]).toEqual(['invalid_arguments', 2])
})

const one = 'expected one address'
it.each([
  ['žofie@example.org', 'only ASCII before the @'],
  ['a@bücher.example', 'punycode'],
  ['a@b%C3%BCcher.example', one],
  ['a@example..org', one],
  ['a@-example.org', one],
  ['Ada <a@example.org> <b@example.org>', one],
  ['Ann <a@b.c>, Dan <d@e.f>', 'has several addresses'],
  ['a@b.c; Dan <d@e.f>', one],
])('refuses the address %s, and says why', async (to, reason) => {
  const { errors } = await failureOf(mail.mailer().sendEmail(message({ to })))
  expect(errors).toEqual([{ path: 'to', message: expect.stringContaining(reason) }])
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

it('refuses fields that no message has, and names the nearest', async () => {
  const nearest = { html: 'htmlBody', htmlBdy: 'htmlBody', reply_to: 'replyTo', stream: 'messageStream' }
  const given = { ...message(), ...nearest, quux: 'secret-words' }
  const words = Object.entries(nearest).map(([path, field]) => [path, `: the nearest is ${field}`])
  const faults = [...words, ['quux', '']].map(([path, hint]) => ({
    path,
    message: `is no field of a message${hint}`,
  }))
  const { code, errors } = await failureOf(mail.mailer().sendEmail(given))
  expect([code, errors]).toEqual(['invalid_arguments', faults])
})

it('returns the id of the mail, its recipients, and the time in UTC', async () => {
  const result = await mail.mailer().sendEmail(message({ to: ['Ann <ann@example.org>', 'bob@example.org'] }))
  const { messageId, submittedAt = '' } = provider.messages[0] ?? {}
  const expected = { messageId, submittedAt: new Date(submittedAt).toISOString(), rejected: [] }
  expect(result).toEqual({ ...expected, to: 'Ann <ann@example.org>, bob@example.org' })
  provider.faults.add({ status: 200, body: { ErrorCode: 0, MessageID: 'id-1' } })
  const bare = await mail.mailer().sendEmail(message())
  expect(bare).toMatchObject({ messageId: 'id-1', to: 'ann@example.org' })
  expect(Date.parse(bare.submittedAt)).not.toBeNaN()
})

it('names the recipients that the provider left out, as its words say', async () => {
  const left = ['Gone@example.org', 'left@example.org']
  const Message = 'Message OK, but will not deliver to: <GONE@Example.org>; Left@example.org.'
  provider.faults.add({ status: 200, body: { ErrorCode: 0, MessageID: 'id-1', Message } })
  const result = await mail.mailer().sendEmail(message({ to: ['ann@example.org', ...left] }))
  expect(result).toMatchObject({ rejected: left })
})
