import { expect, it } from 'vitest'
import type { Message } from '../src/index.ts'
import { failureOf, message, runMailProvider } from './support.ts'

const mail = runMailProvider()
const { provider, requests } = mail
const many = Array.from({ length: 49 }, (_, index) => `a${index}@example.org`)

it.each<[string, Partial<Message>, string[]]>([
  ['no recipient', { to: [] }, ['to']],
  ['an empty recipient', { to: '' }, ['to']],
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
  ['a line break in metadata', { metadata: { order: 'a\nb' } }, ['metadata']],
  [
    'a line break in a file’s name',
    { attachments: [{ name: 'a\n', content: '', contentType: 'a/b' }] },
    ['attachments[0]'],
  ],
  ['a null character', { subject: 'Hello\u0000' }, ['subject']],
  ['several faults', { to: [], subject: '', textBody: '' }, ['to', 'subject', 'htmlBody']],
])('does not send a message with %s, and names only the place', async (_what, fields, paths) => {
  const error = await failureOf(mail.mailer().sendEmail(message(fields)))
  expect(error).toMatchObject({ code: 'invalid_arguments', retryable: false, effect: 'none' })
  expect(error.errors?.map(({ path }) => path)).toEqual(paths)
  expect(error.message).toContain(paths[0])
  expect(error.message + JSON.stringify(error.errors)).not.toMatch(/example\.|secret-words|Bcc|[\r\n]/)
  expect(requests).toEqual([])
})

it.each([undefined, ''])('does not send a message without a sender: fromEmail %j', async (fromEmail) => {
  const error = await failureOf(mail.mailer({ fromEmail }).sendEmail(message()))
  const errors = [{ path: 'from', message: expect.stringContaining('no fromEmail is configured') }]
  expect(error).toMatchObject({ code: 'invalid_arguments', errors })
  expect(requests).toEqual([])
})

it.each(['', ' ', 'a\nb', 'tökén'])('does not send with the invalid token %j', async (apiToken) => {
  const error = await failureOf(mail.mailer({ apiToken }).sendEmail(message()))
  expect(error).toMatchObject({ code: 'missing_credentials', retryable: false, effect: 'none' })
  expect(requests).toEqual([])
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
