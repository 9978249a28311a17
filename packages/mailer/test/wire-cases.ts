/**
 * Messages as they are written for our client, and for the provider's own.
 *
 * @module
 */
import * as postmark from 'postmark'
import type { Message } from '../src/index.ts'

const From = 'shop@example.com'
const pixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

/** The same messages for both clients. */
export const cases: { what: string; our: Message; their: postmark.Message }[] = [
  {
    what: 'plain text',
    our: { from: From, to: 'ada@example.com', subject: 'Hello', textBody: 'Hi Ada' },
    their: { From, To: 'ada@example.com', Subject: 'Hello', TextBody: 'Hi Ada' },
  },
  {
    what: 'HTML',
    our: { from: From, to: 'ada@example.com', subject: 'Hello', htmlBody: '<p>Hi & welcome “Ada”</p>' },
    their: { From, To: 'ada@example.com', Subject: 'Hello', HtmlBody: '<p>Hi & welcome “Ada”</p>' },
  },
  {
    what: 'HTML under its other name',
    our: { from: From, to: 'ada@example.com', subject: 'Hello', body: '<p>Hi</p>' },
    their: { From, To: 'ada@example.com', Subject: 'Hello', HtmlBody: '<p>Hi</p>' },
  },
  {
    what: 'HTML and text with line breaks',
    our: {
      from: From,
      to: 'ada@example.com',
      subject: 'Hello',
      htmlBody: '<p>Hi</p>\r\n',
      textBody: 'Hi\n\tAda\n',
    },
    their: {
      From,
      To: 'ada@example.com',
      Subject: 'Hello',
      HtmlBody: '<p>Hi</p>\r\n',
      TextBody: 'Hi\n\tAda\n',
    },
  },
  {
    what: 'lists of to, cc and bcc',
    our: {
      from: From,
      to: ['ada@example.com', 'Grace Hopper <grace@example.com>'],
      cc: ['a@example.org', 'b@example.org'],
      bcc: ['c@example.org', 'D <d@example.org>'],
      subject: 'Hello',
      textBody: 'Hi all',
    },
    their: {
      From,
      To: 'ada@example.com,Grace Hopper <grace@example.com>',
      Cc: 'a@example.org,b@example.org',
      Bcc: 'c@example.org,D <d@example.org>',
      Subject: 'Hello',
      TextBody: 'Hi all',
    },
  },
  {
    what: 'names with commas, quotes and brackets',
    our: {
      from: 'Shop (Berlin) <shop@example.com>',
      to: ['Lovelace, Ada <ada@example.com>', '"Ada \\"The Countess\\" King" <king@example.com>'],
      cc: 'Dr. Grace "Amazing" Hopper <grace@example.com>',
      subject: 'Hello',
      textBody: 'Hi',
    },
    their: {
      From: '"Shop (Berlin)" <shop@example.com>',
      To: '"Lovelace, Ada" <ada@example.com>, "Ada \\"The Countess\\" King" <king@example.com>',
      Cc: '"Dr. Grace \\"Amazing\\" Hopper" <grace@example.com>',
      Subject: 'Hello',
      TextBody: 'Hi',
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
      From: 'Café Žižek <shop@example.com>',
      To: '李雷 👩‍💻 <li@example.com>',
      Subject: 'Grüße — Привет — שלום 🎉',
      TextBody: 'x\u2028y 𝄞 \u0000 \ud83d\ude00',
    },
  },
  {
    what: 'a tag, a stream and an address for replies',
    our: {
      from: From,
      to: 'ada@example.com',
      subject: 'Hello',
      textBody: 'Hi',
      tag: 'welcome',
      messageStream: 'broadcast',
      replyTo: ['help@example.com', 'Sales <sales@example.com>'],
    },
    their: {
      From,
      To: 'ada@example.com',
      Subject: 'Hello',
      TextBody: 'Hi',
      Tag: 'welcome',
      MessageStream: 'broadcast',
      ReplyTo: 'help@example.com,Sales <sales@example.com>',
    },
  },
  {
    what: 'an attachment as base64, and an inline image',
    our: {
      from: From,
      to: 'ada@example.com',
      subject: 'Hello',
      htmlBody: '<img src="cid:pixel">',
      attachments: [
        { name: 'pixel.png', content: pixel, contentType: 'image/png', contentId: 'cid:pixel' },
        { name: 'Žádost.txt', content: 'aGVsbG8=', contentType: 'text/plain' },
      ],
    },
    their: {
      From,
      To: 'ada@example.com',
      Subject: 'Hello',
      HtmlBody: '<img src="cid:pixel">',
      Attachments: [
        new postmark.Attachment('pixel.png', pixel, 'image/png', 'cid:pixel'),
        new postmark.Attachment('Žádost.txt', 'aGVsbG8=', 'text/plain'),
      ],
    },
  },
  {
    what: 'an attachment as bytes',
    our: {
      from: From,
      to: 'ada@example.com',
      subject: 'Hello',
      textBody: 'Hi',
      attachments: [
        {
          name: 'all.pdf',
          content: Uint8Array.from({ length: 256 }, (_, at) => at),
          contentType: 'application/pdf',
        },
      ],
    },
    their: {
      From,
      To: 'ada@example.com',
      Subject: 'Hello',
      TextBody: 'Hi',
      Attachments: [
        new postmark.Attachment(
          'all.pdf',
          Buffer.from(Array.from({ length: 256 }, (_, at) => at)).toString('base64'),
          'application/pdf',
        ),
      ],
    },
  },
  {
    what: 'headers',
    our: {
      from: From,
      to: 'ada@example.com',
      subject: 'Hello',
      textBody: 'Hi',
      headers: { 'X-Order': '7', 'List-Unsubscribe': '<https://example.com/u?id=1&x=2>' },
    },
    their: {
      From,
      To: 'ada@example.com',
      Subject: 'Hello',
      TextBody: 'Hi',
      Headers: [
        new postmark.Header('List-Unsubscribe', '<https://example.com/u?id=1&x=2>'),
        new postmark.Header('X-Order', '7'),
      ],
    },
  },
  {
    what: 'metadata',
    our: {
      from: From,
      to: 'ada@example.com',
      subject: 'Hello',
      textBody: 'Hi',
      metadata: { order: '7', 'a b': 'ü' },
    },
    their: {
      From,
      To: 'ada@example.com',
      Subject: 'Hello',
      TextBody: 'Hi',
      Metadata: { 'a b': 'ü', order: '7' },
    },
  },
  {
    what: 'tracking, on and off',
    our: {
      from: From,
      to: 'ada@example.com',
      subject: 'Hello',
      htmlBody: 'Hi',
      trackOpens: false,
      trackLinks: 'HtmlAndText',
    },
    their: {
      From,
      To: 'ada@example.com',
      Subject: 'Hello',
      HtmlBody: 'Hi',
      TrackOpens: false,
      TrackLinks: postmark.Models.LinkTrackingOptions.HtmlAndText,
    },
  },
]
