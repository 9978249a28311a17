import { beforeEach, expect, it } from 'vitest'
import { createMailProvider } from '../src/testing/index.ts'

const provider = createMailProvider({ senders: ['Shop@example.com', 'shop.example'] })

const json = { accept: 'application/json', 'content-type': 'application/json' }
const headers = { ...json, 'x-mailer-server-token': 'server-token' }
const wire = { From: 'shop@example.com', To: 'ann@example.org', Subject: 'Hello', TextBody: 'Hi' }
const file = { Name: 'a.txt', Content: 'SGk=', ContentType: 'text/plain' }

beforeEach(() => provider.reset())

/** Makes a request that the client may never make. */
async function call(path: string, body?: unknown, more: Record<string, string> = {}) {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const init = { method: body === undefined ? 'GET' : 'POST', headers: { ...headers, ...more }, body: text }
  const response = await provider.fetch(`http://mail.invalid${path}`, init)
  return [response.status, (await response.json().catch(() => ({}))).ErrorCode]
}

it.each<[string, object, number?]>([
  ['2,001 characters of subject', { Subject: 'x'.repeat(2001) }],
  ['a sender of over 255 characters', { From: `${'x'.repeat(255)} <shop@example.com>` }],
  ['over 5 MB of text, in bytes', { TextBody: 'ü'.repeat(2.5 * 1024 * 1024 + 1) }],
  ['11 metadata fields', { Metadata: Object.fromEntries(Array.from('abcdefghijk', (key) => [key, ''])) }],
  ['a metadata name of 21 characters', { Metadata: { ['k'.repeat(21)]: 'v' } }],
  ['a metadata value of 81 characters', { Metadata: { k: 'v'.repeat(81) } }],
  ['an address with two dots in a row', { To: 'ann..lee@b.c' }],
  ['no sender', { From: undefined }],
  ['no recipient', { To: ' , ' }],
  ['51 recipients', { Cc: Array.from({ length: 50 }, (_, at) => `a${at}@example.org`).join() }],
  ['a line break in an address', { To: 'ann@b.c\r\nBcc: x@y.z' }],
  ['a line break in a header', { Headers: [{ Name: 'X-A', Value: 'a\r\nX-B: b' }] }],
  ['a header that it writes itself', { Headers: [{ Name: 'Date', Value: 'now' }] }],
  ['an empty file', { Attachments: [{ ...file, Content: '' }] }],
  ['a file that is not base64', { Attachments: [{ ...file, Content: 'ä' }] }],
  ['an id of an image without cid:', { Attachments: [{ ...file, ContentID: 'logo' }] }],
  ['no body', { TextBody: '', HtmlBody: null }],
  ['a sender of another domain', { From: 'eve@evilshop.example' }, 400],
  ['an unknown field', { TextBdy: 'typo' }, 403],
  ['a field of a wrong type', { Headers: [{ Name: 'a' }] }, 403],
  ['an unknown way of tracking', { TrackLinks: 'All' }, 403],
  ['an executable file', { Attachments: [{ ...file, Name: 'a.EXE' }] }, 411],
  ['an unknown stream', { MessageStream: 'other' }, 1235],
])('refuses a message with %s, by its code', async (_, fields, code = 300) => {
  expect(await call('/email', { ...wire, ...fields })).toEqual([422, code])
  expect(provider.messages).toEqual([])
})

it.each<[string, [status: number, code: number | undefined], ...Parameters<typeof call>]>([
  ['text that is not JSON', [422, 402], '/email/batch', '['],
  ['anything but a list', [422, 403], '/email/batch', wire],
  ['501 messages', [422, 410], '/email/batch', Array.from({ length: 501 }, () => wire)],
  ['more than 50 MB', [413, 300], '/email/batch', JSON.stringify([wire]).padEnd(50 * 1024 * 1024 + 1)],
  ['no token', [401, 10], '/email', wire, { 'x-mailer-server-token': '' }],
  ['a second token that is wrong', [401, 10], '/email', wire, { 'x-postmark-server-token': 'other' }],
  ['another type of content', [415, 409], '/email', wire, { 'content-type': 'text/plain' }],
  ['another endpoint', [404, undefined], '/messages/outbound'],
  ['another method', [405, undefined], '/email'],
  ['an unknown filter', [422, 403], '/stats/outbound?fromDate=2026-01-01'],
  ['a day that is none', [422, 403], '/stats/outbound?fromdate=yesterday'],
])('refuses a request with %s', async (_, expected, ...request) => {
  expect(await call(...request)).toEqual(expected)
})

it('accepts confirmed senders, by address or by domain, and forgets everything on reset', async () => {
  const { messages, calls, inactive, faults, settings } = provider
  for (const From of ['Shop <SHOP@example.com>', 'any@shop.example'])
    expect(await call('/email', { ...wire, From })).toEqual([200, 0])
  expect([messages.length, calls.at(-1)]).toMatchObject([2, { path: '/email', status: 200 }])
  settings.senders = undefined
  inactive.add('gone@example.org')
  faults.add({ hang: true })
  provider.reset()
  expect(settings.senders).toEqual(['Shop@example.com', 'shop.example'])
  expect([...messages, ...calls, ...inactive, ...faults.pending()]).toEqual([])
})
