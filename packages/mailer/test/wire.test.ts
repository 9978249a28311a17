import * as postmark from 'postmark'
import { expect, it } from 'vitest'
import type { Message } from '../src/index.ts'
import { runMailProvider } from './support.ts'

const mail = runMailProvider()
/** More bytes than one call of `String.fromCharCode` can take. */
const bytes = Uint8Array.from({ length: 100_001 }, (_, index) => index % 256)

/** The same message with every field and every script, written for our client and for the provider’s own. */
const our: Message = {
  from: 'Shop (Žižek) <shop@example.com>',
  to: ['ada@example.com', 'Lovelace, Ada <ada@example.com>', '"Ada \\"The Countess\\" King" <k@b.co>'],
  cc: ['李雷 👩‍💻 <li@example.com>', { name: 'D, E', address: 'd@xn--bcher-kva.example' }],
  bcc: 'c@example.org',
  replyTo: ['help@example.com', 'Sales <sales@example.com>'],
  subject: 'Grüße — Привет — שלום 🎉',
  body: '<img src="cid:pixel">',
  textBody: 'x\u2028y 𝄞 \u0000 \ud83d\ude00\n\tAda\r\n',
  tag: 'welcome',
  messageStream: 'broadcast',
  trackOpens: false,
  trackLinks: 'HtmlAndText',
  headers: { 'X-Order': '7', 'List-Unsubscribe': '<https://example.com/u?id=1&x=2>' },
  metadata: { order: '7', 'a b': 'ü' },
  attachments: [
    { name: 'pixel.png', content: 'aGVsbG8=', contentType: 'image/png', contentId: 'cid:pixel' },
    { name: 'Žádost.pdf', content: bytes, contentType: 'application/pdf' },
  ],
}
const their: postmark.Message = {
  From: '"Shop (Žižek)" <shop@example.com>',
  To: 'ada@example.com, "Lovelace, Ada" <ada@example.com>, "Ada \\"The Countess\\" King" <k@b.co>',
  Cc: '李雷 👩‍💻 <li@example.com>, "D, E" <d@xn--bcher-kva.example>',
  Bcc: 'c@example.org',
  ReplyTo: 'help@example.com, Sales <sales@example.com>',
  Subject: 'Grüße — Привет — שלום 🎉',
  HtmlBody: '<img src="cid:pixel">',
  TextBody: 'x\u2028y 𝄞 \u0000 \ud83d\ude00\n\tAda\r\n',
  Tag: 'welcome',
  MessageStream: 'broadcast',
  TrackOpens: false,
  TrackLinks: postmark.Models.LinkTrackingOptions.HtmlAndText,
  Headers: [
    new postmark.Header('X-Order', '7'),
    new postmark.Header('List-Unsubscribe', '<https://example.com/u?id=1&x=2>'),
  ],
  Metadata: { 'a b': 'ü', order: '7' },
  Attachments: [
    new postmark.Attachment('pixel.png', 'aGVsbG8=', 'image/png', 'cid:pixel'),
    new postmark.Attachment('Žádost.pdf', Buffer.from(bytes).toString('base64'), 'application/pdf'),
  ],
}

it('sends the same requests as the provider’s own client, one mail and a batch', async () => {
  // Both clients call the provider’s own host.
  const requests: unknown[] = []
  const record: typeof fetch = async (input, init) => {
    const { method, url, headers } = new Request(input, init)
    // The provider’s own classes write `null` for an absent field.
    const body = JSON.parse(String(init?.body), (_name, value) => value ?? undefined)
    const names = ['content-type', 'accept', 'x-postmark-server-token']
    requests.push({ method, url, body, headers: names.map((name) => headers.get(name)) })
    return mail.provider.fetch(input, init)
  }
  const client = mail.mailer({ baseUrl: undefined, fetch: record })
  const official = new postmark.ServerClient('server-token', { fetch: record })
  await client.sendEmail(our)
  await official.sendEmail(their)
  await client.sendEmails([our, our])
  await official.sendEmailBatch([their, their])
  expect(requests.slice(0, 2)).toMatchObject(Array(2).fill({ url: 'https://api.postmarkapp.com/email' }))
  expect([requests[0], requests[2]]).toEqual([requests[1], requests[3]])
})
