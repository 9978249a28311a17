import { expect, it } from 'vitest'
import type { Message } from '../src/index.ts'
import { createMailProvider } from '../src/testing/index.ts'
import { failureOf, message, runMailProvider } from './support.ts'

const { provider, mailer } = runMailProvider()

const json = {
  accept: 'application/json',
  'content-type': 'application/json',
  'x-mailer-server-token': 'server-token',
}

/** Sends what the client would not send. */
async function post(path: string, body: unknown, headers: Record<string, string> = json) {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const response = await provider.fetch(`http://mail.invalid${path}`, { method: 'POST', headers, body: text })
  return { status: response.status, body: await response.json() }
}

const wire = { From: 'shop@example.com', To: 'ann@example.org', Subject: 'Hello', TextBody: 'Hi' }
const file = { Name: 'a.txt', Content: 'SGk=', ContentType: 'text/plain' }

it.each<[number, string, Partial<Message>]>([
  [300, '2,001 characters of subject', { subject: 'x'.repeat(2001) }],
  [300, '1,001 characters of tag', { tag: 'x'.repeat(1001) }],
  [300, 'a sender of over 255 characters', { from: `${'x'.repeat(255)} <a@b.c>` }],
  [300, 'over 5 MB of text, in bytes', { textBody: 'ü'.repeat(2.5 * 1024 * 1024 + 1) }],
  [
    300,
    '11 metadata fields',
    { metadata: Object.fromEntries(Array.from('abcdefghijk', (key) => [key, ''])) },
  ],
  [300, 'a metadata name of 21 characters', { metadata: { ['k'.repeat(21)]: 'v' } }],
  [300, 'a metadata value of 81 characters', { metadata: { k: 'v'.repeat(81) } }],
  [300, 'an address with two dots in a row', { to: 'ann..lee@b.c' }],
  [300, 'a file that is not base64', { attachments: [{ name: 'a', content: 'ä', contentType: 'a/b' }] }],
  [411, 'an executable file', { attachments: [{ name: 'a.EXE', content: '', contentType: 'a/b' }] }],
  [1235, 'an unknown stream', { messageStream: 'other' }],
  [1236, 'an inbound stream', { messageStream: 'inbound' }],
])('refuses with code %i a message with %s', async (code, _reason, fields) => {
  const error = await failureOf(mailer().sendEmail(message(fields)))
  expect(error.provider?.code).toBe(String(code))
  expect(provider.messages).toEqual([])
})

it.each<[number, string, object]>([
  [300, 'no sender', { From: undefined }],
  [300, 'two senders', { From: 'a@b.c, d@e.f' }],
  [300, 'no recipient', { To: ' , ' }],
  [300, '51 recipients', { Cc: Array.from({ length: 50 }, (_, at) => `a${at}@example.org`).join() }],
  [300, 'an invalid address in Cc', { Cc: 'ann' }],
  [300, 'an invalid address in Bcc', { Bcc: 'ann@exa mple.org' }],
  [300, 'an invalid address in ReplyTo', { ReplyTo: 'ann' }],
  [300, 'a line break in an address', { To: 'ann@b.c\r\nBcc: x@y.z' }],
  [300, 'a line break in the subject', { Subject: 'a\nb' }],
  [300, 'a line break in a header', { Headers: [{ Name: 'X-A', Value: 'a\r\nX-B: b' }] }],
  [300, 'no body', { TextBody: '', HtmlBody: null }],
  [403, "'TextBdy'", { TextBdy: 'typo' }],
  [403, "'To'", { To: ['ann@example.org'] }],
  [403, "'TrackLinks'", { TrackLinks: 'All' }],
  [403, "'Headers[0].Value'", { Headers: [{ Name: 'a' }] }],
  [403, "'Metadata.n'", { Metadata: { n: 1 } }],
  [403, "'Attachments[0].ContentId'", { Attachments: [{ ...file, ContentId: 'c' }] }],
])('refuses with code %i what no correct client sends: %s', async (ErrorCode, reason, fields) => {
  const Message = expect.stringContaining(ErrorCode === 403 ? reason : '')
  expect(await post('/email', { ...wire, ...fields })).toEqual({ status: 422, body: { ErrorCode, Message } })
})

it.each<[string, unknown, number, number]>([
  ['text that is not JSON', '[', 422, 402],
  ['anything but a list', wire, 422, 403],
  ['an empty list', [], 422, 403],
  ['501 messages', Array.from({ length: 501 }, () => wire), 422, 410],
  ['more than 50 MB', JSON.stringify([wire]).padEnd(50 * 1024 * 1024 + 1), 413, 300],
])('refuses a batch of %s', async (_reason, body, status, ErrorCode) => {
  expect(await post('/email/batch', body)).toMatchObject({ status, body: { ErrorCode } })
})

it.each<[string, Record<string, string>, number, number]>([
  ['without a token', { 'x-mailer-server-token': '' }, 401, 10],
  ['with a second token that is wrong', { 'x-postmark-server-token': 'other' }, 401, 10],
  ['that does not accept JSON', { accept: '*/*' }, 415, 409],
  ['that is not JSON', { 'content-type': 'text/plain' }, 415, 409],
])('refuses a request %s', async (_reason, headers, status, ErrorCode) => {
  expect(await post('/email', wire, { ...json, ...headers })).toMatchObject({ status, body: { ErrorCode } })
  expect(provider.messages).toEqual([])
})

it('answers 404 for other paths, and 405 for another method', async () => {
  const statuses = ['/messages/outbound', '/constructor', '/email'].map(async (path) => {
    return (await provider.fetch(`http://mail.invalid${path}`, { headers: json })).status
  })
  expect(await Promise.all(statuses)).toEqual([404, 404, 405])
})

it('accepts only confirmed senders, by address or by domain', async () => {
  provider.settings.senders = ['Shop@example.com', 'shop.example']
  for (const from of ['Shop <SHOP@example.com>', 'any@shop.example'])
    await mailer().sendEmail(message({ from }))
  const error = await failureOf(mailer().sendEmail(message({ from: 'eve@evilshop.example' })))
  expect(error.provider?.code).toBe('400')
})

it.each([
  ['out-of-credits', '405'],
  ['blocked', '413'],
  ['pending', '412'],
] as const)('refuses mail while the account is %s', async (account, code) => {
  provider.settings.account = account
  expect((await failureOf(mailer().sendEmail(message()))).provider?.code).toBe(code)
})

it('accepts mail to the sender’s own domain while the account is pending', async () => {
  provider.settings.account = 'pending'
  await mailer().sendEmail(message({ to: 'ann@EXAMPLE.com' }))
  expect(provider.messages).toHaveLength(1)
})

it.each([
  ['fromDate=2026-01-01', 422, 403],
  ['fromdate=yesterday', 422, 403],
  ['todate=2026-13-01', 422, 403],
  ['messagestream=other', 404, 1226],
])('refuses the statistics filter %s', async (query, status, ErrorCode) => {
  const response = await provider.fetch(`http://mail.invalid/stats/outbound?${query}`, { headers: json })
  expect([response.status, await response.json()]).toMatchObject([status, { ErrorCode }])
})

it('forgets everything on reset, and restores the first settings', async () => {
  const strict = createMailProvider({ senders: ['example.com'] })
  const post = { method: 'POST', headers: json, body: JSON.stringify(wire) }
  await strict.fetch('http://mail.invalid/email', post)
  expect([strict.messages.length, strict.calls]).toMatchObject([1, [{ path: '/email', status: 200 }]])
  Object.assign(strict.settings, { senders: undefined, account: 'blocked' })
  strict.inactive.add('gone@example.org')
  strict.faults.add({ hang: true })
  strict.reset()
  expect(strict.settings).toMatchObject({ senders: ['example.com'], account: 'approved' })
  expect([strict.messages, strict.calls, [...strict.inactive], strict.faults.pending()]).toEqual([
    [],
    [],
    [],
    [],
  ])
})
