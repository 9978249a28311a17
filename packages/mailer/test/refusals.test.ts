import { describe, expect, it } from 'vitest'
import type { Message } from '../src/index.ts'
import { failureOf, message, runMailProvider } from './support.ts'

const arrangement = runMailProvider()
const { provider, requests } = arrangement

describe('a message that must not leave', () => {
  const tooMany = Array.from({ length: 49 }, (_, index) => `a${index}@example.org`)

  it.each<[string, Partial<Message>, string[]]>([
    ['no recipient', { to: [] }, ['to']],
    ['an empty recipient', { to: '' }, ['to']],
    ['no recipient, and a copy that is none', { to: [], cc: 'nobody' }, ['to', 'cc']],
    ['two recipients in one text', { to: 'ann@example.org, eve@example.org' }, ['to']],
    ['a recipient that is no address', { to: ['ann@example.org', 'secret-words'] }, ['to[1]']],
    ['a name without an address', { bcc: 'Ann <>' }, ['bcc']],
    ['no body', { textBody: undefined }, ['htmlBody']],
    ['an empty body', { textBody: '' }, ['htmlBody']],
    ['two HTML bodies', { body: '<p>a</p>', htmlBody: '<p>b</p>' }, ['body']],
    ['no subject', { subject: '' }, ['subject']],
    ['a sender that is no address', { from: 'Shop' }, ['from']],
    ['51 recipients', { to: tooMany, cc: 'b@example.org', bcc: 'c@example.org' }, ['to']],
    ['over 10 MB', { textBody: 'secret-words'.repeat(900_000) }, ['']],
    ['a line break in the recipient', { to: 'ann@example.org\r\nBcc: eve@example.org' }, ['to']],
    ['a line break after the recipient', { to: 'ann@example.org\n' }, ['to']],
    ['a line break in a name', { to: 'Ann\r\nBcc: eve@example.org <ann@example.org>' }, ['to']],
    ['a line break in a copy', { cc: ['carl@example.org\n'] }, ['cc[0]']],
    ['a line break in a blind copy', { bcc: ['carl@example.org', '\rdora@example.org'] }, ['bcc[1]']],
    ['a line break in the sender', { from: 'shop@example.com\nX: y' }, ['from']],
    ['a line break in the address for answers', { replyTo: 'a@example.com\n' }, ['replyTo']],
    ['a line break in the subject', { subject: 'Hello\r\nBcc: eve@example.org' }, ['subject']],
    ['a line break in the tag', { tag: 'a\nb' }, ['tag']],
    ['a line break in the stream', { messageStream: 'a\nb' }, ['messageStream']],
    [
      'a line break in a header',
      { headers: { 'X-Order': '7\r\nBcc: eve@example.org' } },
      ['headers.X-Order'],
    ],
    ['a line break in a header’s name', { headers: { 'X\r\nBcc: eve@example.org': '7' } }, ['headers']],
    ['a header without a name', { headers: { '': '7' } }, ['headers']],
    ['a line break in metadata', { metadata: { order: 'a\nb' } }, ['metadata']],
    [
      'a line break in a file’s name',
      {
        attachments: [{ name: 'a\n.txt', content: '', contentType: 'text/plain' }],
      },
      ['attachments[0]'],
    ],
    ['another control character', { subject: 'Hello\u0000' }, ['subject']],
    ['several faults', { to: [], subject: '', textBody: '' }, ['to', 'subject', 'htmlBody']],
  ])('because of %s, names the place and nothing else', async (_what, fields, paths) => {
    const error = await failureOf(arrangement.mailer().sendEmail(message(fields)))
    expect(error).toMatchObject({ code: 'invalid_arguments', retryable: false, sent: 'no' })
    expect(error.errors?.map(({ path }) => path)).toEqual(paths)
    expect(error.message).toContain(paths[0])
    expect(error.message + JSON.stringify(error.errors)).not.toMatch(/example\.|secret-words|Bcc|[\r\n]/)
    expect(requests).toEqual([])
  })

  it.each([undefined, ''])('because nobody is its sender: fromEmail %j', async (fromEmail) => {
    const error = await failureOf(arrangement.mailer({ fromEmail }).sendEmail(message()))
    const errors = [{ path: 'from', message: expect.stringContaining('no fromEmail is configured') }]
    expect(error).toMatchObject({ code: 'invalid_arguments', errors })
    expect(requests).toEqual([])
  })

  it.each(['', ' ', 'a\nb', 'tökén'])('because there is no token to send it with: %j', async (apiToken) => {
    const error = await failureOf(arrangement.mailer({ apiToken }).sendEmail(message()))
    expect(error).toMatchObject({ code: 'missing_credentials', retryable: false, sent: 'no' })
    expect(requests).toEqual([])
  })
})

describe('a message at the limit', () => {
  it('of 50 recipients leaves', async () => {
    const to = Array.from({ length: 48 }, (_, index) => `a${index}@example.org`)
    await arrangement.mailer().sendEmail(message({ to, cc: 'b@example.org', bcc: 'c@example.org' }))
    expect(provider.messages).toHaveLength(1)
  })

  it('of 10 MB leaves, and one byte more does not', async () => {
    const limit = 10 * 1024 * 1024
    await arrangement.mailer().sendEmail(message({ textBody: 'a', htmlBody: 'a' }))
    const overhead = (requests[0]?.text.length ?? 0) - 2
    const half = 'a'.repeat(limit / 2)
    const fit = message({ textBody: half, htmlBody: half.slice(overhead) })
    await arrangement.mailer().sendEmail(fit)
    expect(requests[1]?.text).toHaveLength(limit)
    const error = await failureOf(arrangement.mailer().sendEmail({ ...fit, subject: `${fit.subject}!` }))
    expect([error.code, requests.length]).toEqual(['invalid_arguments', 2])
  })
})
