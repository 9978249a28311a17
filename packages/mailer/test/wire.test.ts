import * as postmark from 'postmark'
import { describe, expect, it } from 'vitest'
import type { Message } from '../src/index.ts'
import { runMailProvider } from './support.ts'

const mail = runMailProvider()
/** More bytes than one call of `String.fromCharCode` can take. */
const bytes = Uint8Array.from({ length: 100_001 }, (_, index) => index % 256)
const ours = { from: 'shop@example.com', to: 'ada@example.com', subject: 'Hello' }
const theirs = { From: 'shop@example.com', To: 'ada@example.com', Subject: 'Hello' }

/** The same messages, written for our client and for the provider’s own. */
const cases: [what: string, our: Message, their: postmark.Message][] = [
  [
    'lists, names with special characters, and every script',
    {
      from: 'Shop (Žižek) <shop@example.com>',
      to: ['ada@example.com', 'Lovelace, Ada <ada@example.com>', '"Ada \\"The Countess\\" King" <k@b.co>'],
      cc: ['李雷 👩‍💻 <li@example.com>', { name: 'D, E', address: 'd@bücher.example' }],
      bcc: 'c@example.org',
      replyTo: ['help@example.com', 'Sales <sales@example.com>'],
      subject: 'Grüße — Привет — שלום 🎉',
      textBody: 'x\u2028y 𝄞 \u0000 \ud83d\ude00\n\tAda\r\n',
      tag: 'welcome',
      messageStream: 'broadcast',
    },
    {
      From: '"Shop (Žižek)" <shop@example.com>',
      To: 'ada@example.com, "Lovelace, Ada" <ada@example.com>, "Ada \\"The Countess\\" King" <k@b.co>',
      Cc: '李雷 👩‍💻 <li@example.com>, "D, E" <d@xn--bcher-kva.example>',
      Bcc: 'c@example.org',
      ReplyTo: 'help@example.com, Sales <sales@example.com>',
      Subject: 'Grüße — Привет — שלום 🎉',
      TextBody: 'x\u2028y 𝄞 \u0000 \ud83d\ude00\n\tAda\r\n',
      Tag: 'welcome',
      MessageStream: 'broadcast',
    },
  ],
  [
    'both bodies, an inline image and a large file',
    {
      ...ours,
      body: '<img src="cid:pixel">',
      textBody: 'Hi',
      attachments: [
        { name: 'pixel.png', content: 'aGVsbG8=', contentType: 'image/png', contentId: 'cid:pixel' },
        { name: 'Žádost.pdf', content: bytes, contentType: 'application/pdf' },
      ],
    },
    {
      ...{ ...theirs, HtmlBody: '<img src="cid:pixel">', TextBody: 'Hi', MessageStream: 'outbound' },
      Attachments: [
        new postmark.Attachment('pixel.png', 'aGVsbG8=', 'image/png', 'cid:pixel'),
        new postmark.Attachment('Žádost.pdf', Buffer.from(bytes).toString('base64'), 'application/pdf'),
      ],
    },
  ],
  [
    'headers, metadata and tracking',
    {
      ...{ ...ours, htmlBody: 'Hi', trackOpens: false, trackLinks: 'HtmlAndText' },
      headers: { 'X-Order': '7', 'List-Unsubscribe': '<https://example.com/u?id=1&x=2>' },
      metadata: { order: '7', 'a b': 'ü' },
    },
    {
      ...{ ...theirs, HtmlBody: 'Hi', TrackOpens: false, MessageStream: 'outbound' },
      TrackLinks: postmark.Models.LinkTrackingOptions.HtmlAndText,
      Headers: [
        new postmark.Header('X-Order', '7'),
        new postmark.Header('List-Unsubscribe', '<https://example.com/u?id=1&x=2>'),
      ],
      Metadata: { 'a b': 'ü', order: '7' },
    },
  ],
]

/** Both clients call the provider’s own host; this `fetch` sends their requests to the emulator instead. */
const fetchFromEmulator: typeof fetch = async (input, init) => {
  const request = new Request(input, init)
  const { origin, pathname } = new URL(request.url)
  const headers = new Headers(request.headers)
  headers.set('x-origin', origin)
  return fetch(mail.url + pathname, { method: request.method, headers, body: await request.text() })
}

const client = mail.mailer({ baseUrl: undefined, fetch: fetchFromEmulator })
const official = new postmark.ServerClient('server-token', { fetch: fetchFromEmulator })

/** The two requests, ours and theirs. The provider’s own classes write `null` for an absent field. */
const sentRequests = () =>
  mail.requests.map(({ method, path, headers, text }) => [
    ...[method, path, JSON.parse(text, (_name, value) => value ?? undefined)],
    ...['x-origin', 'content-type', 'accept', 'x-postmark-server-token'].map((name) => headers.get(name)),
  ])

describe('compared with the provider’s own client', () => {
  it.each(cases)('sends the same request for %s', async (_, our, their) => {
    await client.sendEmail(our)
    await official.sendEmail(their)
    const [one, other] = sentRequests()
    expect(one).toEqual(other)
    expect(one).toContain('https://api.postmarkapp.com')
  })

  it('sends the same request for all cases in one batch', async () => {
    await client.sendEmails(cases.map(([, our]) => our))
    await official.sendEmailBatch(cases.map(([, , their]) => their))
    const [one, other] = sentRequests()
    expect(one).toEqual(other)
    expect(one).toContain('/email/batch')
  })
})
