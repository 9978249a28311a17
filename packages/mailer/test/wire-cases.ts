import * as postmark from 'postmark'
import type { Message } from '../src/index.ts'

const pixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
/** More bytes than one call of `String.fromCharCode` can take. */
const bytes = Uint8Array.from({ length: 100_001 }, (_, index) => index % 256)

const ours = { from: 'shop@example.com', to: 'ada@example.com', subject: 'Hello' }
const theirs = {
  From: 'shop@example.com',
  To: 'ada@example.com',
  Subject: 'Hello',
  MessageStream: 'outbound',
}
const ourText = { ...ours, textBody: 'Hi' }
const theirText = { ...theirs, TextBody: 'Hi' }

/** The same messages, written for our client and for the provider’s own. */
export const cases: { what: string; our: Message; their: postmark.Message }[] = [
  { what: 'plain text', our: ourText, their: theirText },
  { what: 'HTML as body', our: { ...ours, body: '<p>Hi</p>' }, their: { ...theirs, HtmlBody: '<p>Hi</p>' } },
  {
    what: 'HTML and text with line breaks',
    our: { ...ours, htmlBody: '<p>Hi & welcome “Ada”</p>\r\n', textBody: 'Hi\n\tAda\n' },
    their: { ...theirs, HtmlBody: '<p>Hi & welcome “Ada”</p>\r\n', TextBody: 'Hi\n\tAda\n' },
  },
  {
    what: 'lists of to, cc and bcc',
    our: {
      ...ourText,
      to: ['ada@example.com', 'Grace Hopper <grace@example.com>'],
      cc: ['a@example.org', 'b@example.org'],
      bcc: ['c@example.org', 'D <d@example.org>'],
    },
    their: {
      ...theirText,
      To: 'ada@example.com, Grace Hopper <grace@example.com>',
      Cc: 'a@example.org, b@example.org',
      Bcc: 'c@example.org, D <d@example.org>',
    },
  },
  {
    what: 'names with commas, quotes and brackets',
    our: {
      ...ourText,
      from: 'Shop (Berlin) <shop@example.com>',
      to: ['Lovelace, Ada <ada@example.com>', '"Ada \\"The Countess\\" King" <king@example.com>'],
      cc: 'Dr. Grace "Amazing" Hopper <grace@example.com>',
    },
    their: {
      ...theirText,
      From: '"Shop (Berlin)" <shop@example.com>',
      To: '"Lovelace, Ada" <ada@example.com>, "Ada \\"The Countess\\" King" <king@example.com>',
      Cc: '"Dr. Grace \\"Amazing\\" Hopper" <grace@example.com>',
    },
  },
  {
    what: 'letters of every script, and emoji',
    our: {
      from: 'Café Žižek <shop@example.com>',
      to: '李雷 👩‍💻 <li@example.com>',
      subject: 'Grüße — Привет — שלום 🎉',
      textBody: 'x\u2028y 𝄞 \u0000 \ud83d\ude00',
    },
    their: {
      ...theirs,
      From: 'Café Žižek <shop@example.com>',
      To: '李雷 👩‍💻 <li@example.com>',
      Subject: 'Grüße — Привет — שלום 🎉',
      TextBody: 'x\u2028y 𝄞 \u0000 \ud83d\ude00',
    },
  },
  {
    what: 'a tag, a stream and addresses for replies',
    our: {
      ...ourText,
      tag: 'welcome',
      messageStream: 'broadcast',
      replyTo: ['help@example.com', 'Sales <sales@example.com>'],
    },
    their: {
      ...theirText,
      Tag: 'welcome',
      MessageStream: 'broadcast',
      ReplyTo: 'help@example.com, Sales <sales@example.com>',
    },
  },
  {
    what: 'an attachment as base64, and an inline image',
    our: {
      ...ours,
      htmlBody: '<img src="cid:pixel">',
      attachments: [
        { name: 'pixel.png', content: pixel, contentType: 'image/png', contentId: 'cid:pixel' },
        { name: 'Žádost.txt', content: 'aGVsbG8=', contentType: 'text/plain' },
      ],
    },
    their: {
      ...theirs,
      HtmlBody: '<img src="cid:pixel">',
      Attachments: [
        new postmark.Attachment('pixel.png', pixel, 'image/png', 'cid:pixel'),
        new postmark.Attachment('Žádost.txt', 'aGVsbG8=', 'text/plain'),
      ],
    },
  },
  {
    what: 'a large attachment as bytes',
    our: { ...ourText, attachments: [{ name: 'all.pdf', content: bytes, contentType: 'application/pdf' }] },
    their: {
      ...theirText,
      Attachments: [
        new postmark.Attachment('all.pdf', Buffer.from(bytes).toString('base64'), 'application/pdf'),
      ],
    },
  },
  {
    what: 'headers and metadata',
    our: {
      ...ourText,
      headers: { 'X-Order': '7', 'List-Unsubscribe': '<https://example.com/u?id=1&x=2>' },
      metadata: { order: '7', 'a b': 'ü' },
    },
    their: {
      ...theirText,
      Headers: [
        new postmark.Header('X-Order', '7'),
        new postmark.Header('List-Unsubscribe', '<https://example.com/u?id=1&x=2>'),
      ],
      Metadata: { 'a b': 'ü', order: '7' },
    },
  },
  {
    what: 'tracking, on and off',
    our: { ...ours, htmlBody: 'Hi', trackOpens: false, trackLinks: 'HtmlAndText' },
    their: {
      ...theirs,
      HtmlBody: 'Hi',
      TrackOpens: false,
      TrackLinks: postmark.Models.LinkTrackingOptions.HtmlAndText,
    },
  },
]
