import { beforeEach, expect, it } from 'vitest'
import { createMailProvider } from '../src/testing/index.ts'

const provider = createMailProvider({ senders: ['Shop@example.com', 'shop.example'] })
const wire = { From: 'shop@example.com', To: 'ann@example.org', Subject: 'Hello', TextBody: 'Hi' }
const file = { Name: 'a.txt', Content: 'SGk=', ContentType: 'text/plain' }

beforeEach(() => provider.reset())

/** Makes a request that the client may never make, and returns the status and the code. */
async function call(path: string, body?: unknown, more: Record<string, string> = {}) {
  const json = { accept: 'application/json', 'content-type': 'application/json' }
  const headers = { ...json, 'x-mailer-server-token': 'server-token', ...more }
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const init = { method: body === undefined ? 'GET' : 'POST', headers, body: text }
  const response = await provider.fetch(`http://mail.invalid${path}`, init)
  return [response.status, (await response.json().catch(() => ({}))).ErrorCode]
}

const long = 'x'.repeat(2_001)
const fields = Object.fromEntries(Array.from('abcdefghijk', (key) => [key, '']))
it.each<[code: number, ...messages: object[]]>([
  [300, { Subject: long }, { From: `${long} <shop@example.com>` }, { TextBody: 'ü'.repeat(2_621_441) }],
  [300, { Metadata: fields }, { Metadata: { [long]: 'v' } }, { Metadata: { k: long } }],
  [300, { From: undefined }, { To: ' , ' }, { To: 'ann..lee@b.c' }, { To: 'ann@b.c\r\nBcc: x@y.z' }],
  [300, { Cc: Array.from({ length: 50 }, (_, at) => `a${at}@example.org`).join() }, { TextBody: '' }],
  [300, { Headers: [{ Name: 'Date', Value: 'now' }] }, { Headers: [{ Name: 'X', Value: 'a\nX-B: b' }] }],
  [300, { Attachments: [{ ...file, Content: '' }] }, { Attachments: [{ ...file, Content: 'ä' }] }],
  [300, { Attachments: [{ ...file, ContentID: 'logo' }] }],
  [400, { From: 'eve@evilshop.example' }],
  [403, { constructor: 'inherited' }, { TextBdy: 'typo' }, { Headers: [{ Name: 'a' }] }],
  [403, { Metadata: { n: 1 } }, { TrackLinks: 'All' }],
  [411, { Attachments: [{ ...file, Name: 'a.EXE' }] }],
  [1235, { MessageStream: 'other' }],
])('refuses with code %i what the provider refuses with it: %.40j', async (code, ...messages) => {
  for (const each of messages) expect(await call('/email', { ...wire, ...each })).toEqual([422, code])
  expect(provider.messages).toEqual([])
})

it.each<[string, [status: number, code: number | undefined], ...Parameters<typeof call>]>([
  ['text that is not JSON', [422, 402], '/email/batch', '['],
  ['anything but a list', [422, 403], '/email/batch', wire],
  ['501 messages', [422, 410], '/email/batch', Array(501).fill(wire)],
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
