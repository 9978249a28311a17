import { beforeEach, expect, it } from 'vitest'
import { createMailProvider } from '../src/testing/index.ts'

const provider = createMailProvider({ senders: ['Shop@example.com', 'shop.example'] })

const json = {
  accept: 'application/json',
  'content-type': 'application/json',
  'x-mailer-server-token': 'server-token',
}
const wire = { From: 'shop@example.com', To: 'ann@example.org', Subject: 'Hello', TextBody: 'Hi' }

beforeEach(() => provider.reset())

/** Sends a request that the client may never send. */
async function post(path: string, body: unknown, headers: Record<string, string> = json) {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const response = await provider.fetch(`http://mail.invalid${path}`, { method: 'POST', headers, body: text })
  return { status: response.status, body: await response.json() }
}

const file = { Name: 'a.txt', Content: 'SGk=', ContentType: 'text/plain' }
const names = Array.from('abcdefghijk', (key) => [key, ''])

it.each<[number, string, object]>([
  [300, '2,001 characters of subject', { Subject: 'x'.repeat(2001) }],
  [300, '1,001 characters of tag', { Tag: 'x'.repeat(1001) }],
  [300, 'a sender of over 255 characters', { From: `${'x'.repeat(255)} <shop@example.com>` }],
  [300, 'over 5 MB of text, in bytes', { TextBody: 'ü'.repeat(2.5 * 1024 * 1024 + 1) }],
  [300, '11 metadata fields', { Metadata: Object.fromEntries(names) }],
  [300, 'a metadata name of 21 characters', { Metadata: { ['k'.repeat(21)]: 'v' } }],
  [300, 'a metadata value of 81 characters', { Metadata: { k: 'v'.repeat(81) } }],
  [300, 'an address with two dots in a row', { To: 'ann..lee@b.c' }],
  [300, 'a file that is not base64', { Attachments: [{ ...file, Content: 'ä' }] }],
  [300, 'no sender', { From: undefined }],
  [300, 'no recipient', { To: ' , ' }],
  [300, '51 recipients', { Cc: Array.from({ length: 50 }, (_, at) => `a${at}@example.org`).join() }],
  [300, 'an invalid address in Cc', { Cc: 'ann' }],
  [300, 'a line break in an address', { To: 'ann@b.c\r\nBcc: x@y.z' }],
  [300, 'a line break in a header', { Headers: [{ Name: 'X-A', Value: 'a\r\nX-B: b' }] }],
  [300, 'a header that it writes itself', { Headers: [{ Name: 'Date', Value: 'now' }] }],
  [300, 'a line separator in the tag', { Tag: 'a\u2028b' }],
  [300, 'an empty file', { Attachments: [{ ...file, Content: '' }] }],
  [300, 'an id of an image without cid:', { Attachments: [{ ...file, ContentID: 'logo' }] }],
  [300, 'no body', { TextBody: '', HtmlBody: null }],
  [400, 'a sender of another domain', { From: 'eve@evilshop.example' }],
  [403, "'TextBdy'", { TextBdy: 'typo' }],
  [403, "'TrackLinks'", { TrackLinks: 'All' }],
  [403, "'Headers[0].Value'", { Headers: [{ Name: 'a' }] }],
  [403, "'Attachments[0].ContentId'", { Attachments: [{ ...file, ContentId: 'c' }] }],
  [411, 'an executable file', { Attachments: [{ ...file, Name: 'a.EXE' }] }],
  [1235, 'an unknown stream', { MessageStream: 'other' }],
])('refuses with code %i a message with %s', async (ErrorCode, reason, fields) => {
  const Message = expect.stringContaining(ErrorCode === 403 ? reason : '')
  expect(await post('/email', { ...wire, ...fields })).toEqual({ status: 422, body: { ErrorCode, Message } })
  expect(provider.messages).toEqual([])
})

it.each<[string, unknown, number, number]>([
  ['text that is not JSON', '[', 422, 402],
  ['anything but a list', wire, 422, 403],
  ['501 messages', Array.from({ length: 501 }, () => wire), 422, 410],
  ['more than 50 MB', JSON.stringify([wire]).padEnd(50 * 1024 * 1024 + 1), 413, 300],
])('refuses a batch of %s', async (_reason, body, status, ErrorCode) => {
  expect(await post('/email/batch', body)).toMatchObject({ status, body: { ErrorCode } })
})

it.each<[string, Record<string, string>, number, number]>([
  ['without a token', { 'x-mailer-server-token': '' }, 401, 10],
  ['with a second token that is wrong', { 'x-postmark-server-token': 'other' }, 401, 10],
  ['that is not JSON', { 'content-type': 'text/plain' }, 415, 409],
])('refuses a request %s', async (_reason, headers, status, ErrorCode) => {
  expect(await post('/email', wire, { ...json, ...headers })).toMatchObject({ status, body: { ErrorCode } })
})

it.each([
  ['/messages/outbound', 404],
  ['/email', 405],
])('answers GET %s with %i', async (path, status) => {
  expect((await provider.fetch(`http://mail.invalid${path}`, { headers: json })).status).toBe(status)
})

it('accepts confirmed senders, by address or by domain', async () => {
  for (const From of ['Shop <SHOP@example.com>', 'any@shop.example'])
    expect((await post('/email', { ...wire, From })).status).toBe(200)
})

it.each([
  ['fromDate=2026-01-01', 422, 403],
  ['fromdate=yesterday', 422, 403],
])('refuses the statistics filter %s', async (query, status, ErrorCode) => {
  const response = await provider.fetch(`http://mail.invalid/stats/outbound?${query}`, { headers: json })
  expect([response.status, await response.json()]).toMatchObject([status, { ErrorCode }])
})

it('forgets everything on reset, and restores the first settings', async () => {
  const { messages, calls, inactive, faults, settings } = provider
  await post('/email', wire)
  expect([messages.length, calls.at(-1)]).toMatchObject([1, { path: '/email', status: 200 }])
  settings.senders = undefined
  inactive.add('gone@example.org')
  faults.add({ hang: true })
  provider.reset()
  expect(settings.senders).toEqual(['Shop@example.com', 'shop.example'])
  expect([...messages, ...calls, ...inactive, ...faults.pending()]).toEqual([])
})
