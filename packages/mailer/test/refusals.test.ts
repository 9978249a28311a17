import { expect, it } from 'vitest'
import type { Message } from '../src/index.ts'
import { failureOf, message, runMailProvider } from './support.ts'

const mail = runMailProvider()
const { provider, requests } = mail
const many = Array.from({ length: 49 }, (_, index) => `a${index}@example.org`)

it.each<[string, Partial<Message>, string[]]>([
  ['no recipient', { to: [] }, ['to']],
  ['an empty recipient', { to: '' }, ['to']],
  ['an empty entry of to', { to: [''] }, ['to[0]']],
  ['an empty entry of cc', { cc: ['a@b.c', ''] }, ['cc[1]']],
  ['no recipient and an invalid copy', { to: [], cc: 'nobody' }, ['to', 'cc']],
  ['two recipients in one text', { to: 'ann@example.org, eve@example.org' }, ['to']],
  ['an invalid recipient', { to: ['ann@example.org', 'secret-words'] }, ['to[1]']],
  ['a name without an address', { bcc: 'Ann <>' }, ['bcc']],
  ['no body', { textBody: undefined }, ['htmlBody']],
  ['an empty body', { textBody: '' }, ['htmlBody']],
  ['two HTML bodies', { body: '<p>a</p>', htmlBody: '<p>b</p>' }, ['body']],
  ['no subject', { subject: '' }, ['subject']],
  ['an invalid sender', { from: 'Shop' }, ['from']],
  ['51 recipients', { to: many, cc: 'b@example.org', bcc: 'c@example.org' }, ['to']],
  ['more than 10 MB', { textBody: 'secret-words'.repeat(900_000) }, ['']],
  ...(['to', 'cc', 'bcc', 'replyTo', 'from'] as const).flatMap(
    (field): [string, Partial<Message>, string[]][] => [
      [`a line break in ${field}`, { [field]: 'ann@example.org\r\nBcc: eve@example.org' }, [field]],
      [`a line break after ${field}`, { [field]: 'ann@example.org\n' }, [field]],
      [`a line break in the name of ${field}`, { [field]: 'A\r\nBcc: eve@example.org <a@b.c>' }, [field]],
    ],
  ),
  ['a line break in a list', { bcc: ['carl@example.org', '\rdora@example.org'] }, ['bcc[1]']],
  ['a line break in the subject', { subject: 'Hello\r\nBcc: eve@example.org' }, ['subject']],
  ['a line break in the tag', { tag: 'a\nb' }, ['tag']],
  ['a line break in the stream', { messageStream: 'a\nb' }, ['messageStream']],
  ['a line break in a header', { headers: { 'X-A': '7\r\nBcc: eve@example.org' } }, ['headers.X-A']],
  ['a line break in a header’s name', { headers: { 'X\r\nBcc: eve@example.org': '7' } }, ['headers']],
  ['a header without a name', { headers: { '': '7' } }, ['headers']],
  ['a line break in metadata', { metadata: { order: 'a\nb' } }, ['metadata.order']],
  ['a line break in a name of metadata', { metadata: { 'a\nb': '7' } }, ['metadata']],
  [
    'a line break in a file’s name',
    { attachments: [{ name: 'a\n', content: 'SGk=', contentType: 'a/b' }] },
    ['attachments[0].name'],
  ],
  ...['\u0085', '\u009b', '\u2028', '\u2029'].flatMap((separator): [string, Partial<Message>, string[]][] => {
    const text = `a${separator}b`
    const code = `U+${separator.codePointAt(0)?.toString(16)}`
    return [
      [`${code} in the subject`, { subject: text }, ['subject']],
      [`${code} in the tag`, { tag: text }, ['tag']],
      [`${code} in a header`, { headers: { 'X-A': text } }, ['headers.X-A']],
      [`${code} in a name`, { to: { name: text, address: 'ann@example.org' } }, ['to']],
    ]
  }),
  ...[
    ...['BCC', 'Cc', 'To', 'From', 'Sender', 'Reply-To', 'Subject', 'Date', 'MIME-Version', 'Content-Type'],
    ...['Content-Transfer-Encoding', 'Content-Disposition', 'content-id', 'Return-Path', 'Received'],
    ...['Received-SPF', 'Apparently-To', 'Delivered-To', 'X-Original-To', 'Envelope-To', 'X-Envelope-From'],
    ...['DKIM-Signature', 'DomainKey-Signature', 'Authentication-Results', 'ARC-Seal', 'Resent-Bcc'],
  ].map((name): [string, Partial<Message>, string[]] => [
    `the header ${name}`,
    { headers: { [name]: 'secret-words' } },
    [`headers.${name}`],
  ]),
  [
    'a header twice',
    { headers: { 'List-Unsubscribe': 'a', 'list-unsubscribe': 'b' } },
    ['headers.list-unsubscribe'],
  ],
  ['an endless name', { to: `${'‹'.repeat(999)} <ann@example.org>` }, ['to']],
  ['a null character', { subject: 'Hello\u0000' }, ['subject']],
  ['several faults', { to: [], subject: '', textBody: '' }, ['to', 'subject', 'htmlBody']],
])('does not send a message with %s, and names only the place', async (_what, fields, paths) => {
  const error = await failureOf(mail.mailer().sendEmail(message(fields)))
  expect(error).toMatchObject({ code: 'invalid_arguments', retryable: false, effect: 'none' })
  expect(error.errors?.map(({ path }) => path)).toEqual(paths)
  expect(error.message).toContain(paths[0])
  expect(error.message + JSON.stringify(error.errors)).not.toMatch(/example\.|secret-words|Bcc:|[\r\n]/)
  expect(requests).toEqual([])
})

it.each([undefined, ''])('does not send a message without a sender: fromEmail %j', async (fromEmail) => {
  const error = await failureOf(mail.mailer({ fromEmail }).sendEmail(message()))
  const errors = [{ path: 'from', message: expect.stringContaining('no fromEmail is configured') }]
  expect(error).toMatchObject({ code: 'invalid_arguments', errors })
  expect(requests).toEqual([])
})

it('does not send with an invalid sender, however often it comes', async () => {
  const batch = [message({ from: 'Shop' }), message({ from: 'Shop' })]
  const { results } = await mail.mailer().sendEmails(batch)
  expect(results.map(({ error }) => error?.code)).toEqual(['invalid_arguments', 'invalid_arguments'])
  expect(requests).toEqual([])
})

it.each(['', ' ', 'a\nb', 'tökén'])('is not made with the invalid token %j', (apiToken) => {
  const refusal = { code: 'missing_credentials', retryable: false, effect: 'none' }
  expect(() => mail.mailer({ apiToken })).toThrow(expect.objectContaining(refusal))
})

it('sends a message to 50 recipients', async () => {
  const to = many.slice(1)
  await mail.mailer().sendEmail(message({ to, cc: 'b@example.org', bcc: 'c@example.org' }))
  expect(provider.messages).toHaveLength(1)
})

it('sends a message of 10 MB, and refuses one more byte', async () => {
  const limit = 10 * 1024 * 1024
  await mail.mailer().sendEmail(message({ textBody: 'a', htmlBody: 'a' }))
  const overhead = (requests[0]?.text.length ?? 0) - 2
  const half = 'a'.repeat(limit / 2)
  const largest = message({ textBody: half, htmlBody: half.slice(overhead) })
  await mail.mailer().sendEmail(largest)
  expect(requests[1]?.text).toHaveLength(limit)
  const error = await failureOf(mail.mailer().sendEmail({ ...largest, subject: `${largest.subject}!` }))
  expect([error.code, requests.length]).toEqual(['invalid_arguments', 2])
})

it('sends the headers that mailers set themselves', async () => {
  const names = ['Message-ID', 'List-Unsubscribe', 'List-Unsubscribe-Post', 'In-Reply-To', 'References']
  const headers = Object.fromEntries(
    [
      ...[
        ...names,
        'List-ID',
        'Precedence',
        'Auto-Submitted',
        'X-PM-KeepID',
        'Content-Language',
        'Importance',
      ],
      ...['Disposition-Notification-To', 'Feedback-ID', 'BIMI-Selector', 'Comments', 'X-Received-From'],
    ].map((name) => [name, '<1@b.c>']),
  )
  await mail.mailer().sendEmail(message({ headers }))
  expect(provider.messages[0]?.headers.map(({ name }) => name)).toEqual(Object.keys(headers))
})

const circle: Record<string, unknown> = {}
circle.self = circle
const throwing = new Proxy(
  {},
  {
    get: () => {
      throw new TypeError('secret-words')
    },
    ownKeys: () => {
      throw new TypeError('secret-words')
    },
  },
)

// Callers without types send anything.
it.each<[string, unknown, string[]]>([
  ['null', null, ['']],
  ['undefined', undefined, ['']],
  ['a number', 7, ['']],
  ['a function', () => message(), ['']],
  ['a list', [], ['to', 'subject', 'htmlBody']],
  ['an address with a field “email”', { to: { email: 'ann@example.org' } }, ['to']],
  ['an address that is a number', { to: [7] }, ['to[0]']],
  ['a list of senders', { from: ['a@b.c', 'd@e.f'] }, ['from']],
  ['a subject that is a number', { subject: 7 }, ['subject']],
  ['a body that is an object', { textBody: {} }, ['textBody']],
  ['a tag that is a list', { tag: ['a'] }, ['tag']],
  ['headers that are a list of texts', { headers: ['X-A: b'] }, ['headers']],
  ['a bigint in metadata', { metadata: { order: 7n } }, ['metadata.order']],
  ['a circle in metadata', { metadata: circle }, ['metadata.self']],
  ['metadata that throws', { metadata: throwing }, ['metadata']],
  ['tracking that is a text', { trackOpens: 'yes', trackLinks: 'All' }, ['trackOpens', 'trackLinks']],
  ['attachments that are a text', { attachments: 'a.txt' }, ['attachments']],
  ['an attachment that is a text', { attachments: ['a.txt'] }, ['attachments[0]']],
  ['an attachment that throws', { attachments: [throwing] }, ['attachments']],
  [
    'a getter that throws',
    {
      get subject() {
        throw new TypeError('secret-words')
      },
    },
    ['subject'],
  ],
  ['a Proxy that throws', throwing, ['']],
])('refuses %s by its path', async (_what, given, paths) => {
  const isPart = typeof given === 'object' && given !== null && !Array.isArray(given) && given !== throwing
  const whole = isPart ? Object.defineProperties(message(), Object.getOwnPropertyDescriptors(given)) : given
  const error = await failureOf(mail.mailer().sendEmail(whole as Message))
  expect(error).toMatchObject({ code: 'invalid_arguments', effect: 'none' })
  expect(error.errors?.map(({ path }) => path)).toEqual(paths)
  expect(error.message + JSON.stringify(error.errors)).not.toMatch(/example\.|secret-words/)
  expect(requests).toEqual([])
})

it('reports the first 50 of many faults, and how many more there are', async () => {
  const headers = Object.fromEntries(Array.from({ length: 2_000 }, (_, at) => [`X-${at}`, '\n']))
  const { errors, message: text } = await failureOf(mail.mailer().sendEmail(message({ headers })))
  expect([errors?.length, errors?.at(-1)?.message]).toEqual([51, 'has 1950 more faults'])
  expect(text).toContain('and 1999 more')
})

it.each<[string, Partial<Message>]>([
  ['an address without an end', { to: 'a.'.repeat(1_000_000) }],
  ['a name of quotes', { to: `${'"\\'.repeat(500_000)} <a@b.c>@` }],
  ['a domain of a million letters', { to: `a@${'ü'.repeat(1_000_000)}` }],
  ['a million recipients', { to: Array.from({ length: 1_000_000 }, () => 'nobody') }],
  [
    'base64 of 9 MB with a fault at its end',
    { attachments: [{ name: 'a', contentType: 'a/b', content: `${'A'.repeat(9_000_000)}%` }] },
  ],
  [
    'spaces instead of base64',
    { attachments: [{ name: 'a', contentType: 'a/b', content: ' '.repeat(9_000_000) }] },
  ],
  ['a header’s name of a million letters', { headers: { ['x'.repeat(1_000_000)]: 'a' } }],
])('refuses %s with a short error', async (_what, fields) => {
  const error = await failureOf(mail.mailer().sendEmail(message(fields)))
  expect(error.code).toBe('invalid_arguments')
  expect(JSON.stringify([error.message, error.errors]).length).toBeLessThan(5_000)
})

it.each([
  ['html', 'htmlBody'],
  ['HtmlBody', 'htmlBody'],
  ['htmlBdy', 'htmlBody'],
  ['replyto', 'replyTo'],
  ['reply_to', 'replyTo'],
  ['stream', 'messageStream'],
  ['quux', undefined],
])('refuses the unknown field %s, and names the nearest: %s', async (name, nearest) => {
  const error = await failureOf(mail.mailer().sendEmail({ ...message(), [name]: 'secret-words' }))
  const words = `is no field of a message${nearest ? `: the nearest is ${nearest}` : ''}`
  expect(error).toMatchObject({ code: 'invalid_arguments', errors: [{ path: name, message: words }] })
  expect(error.message).not.toContain('secret-words')
  expect(requests).toEqual([])
})

it('asks for a list instead of several addresses in one text', async () => {
  for (const to of ['a@b.c, d@e.f', 'Ann <a@b.c>, d@e.f', 'a@b.c, Dan <d@e.f>']) {
    const { errors } = await failureOf(mail.mailer().sendEmail(message({ to })))
    expect(errors).toMatchObject([{ message: 'has several addresses: expected one, or a list of them' }])
  }
})

it('is not made with a default sender that is none', () => {
  const errors = [{ path: 'options.fromEmail', message: expect.stringContaining('expected one address') }]
  expect(() => mail.mailer({ fromEmail: 'Shop' })).toThrow(expect.objectContaining({ errors }))
})
