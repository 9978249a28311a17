import type { Models } from 'postmark'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { type MailEvent, parseMailEvent } from '../src/events.ts'

const common = {
  MessageID: '883953f4-6105-42a2-a16a-77a8eac79483',
  MessageStream: 'outbound',
  ServerID: 23,
  Tag: 'welcome',
  Metadata: { order: '7' },
}
const expected = {
  recipient: 'ada@example.org',
  messageId: '883953f4-6105-42a2-a16a-77a8eac79483',
  messageStream: 'outbound',
  serverId: 23,
  tag: 'welcome',
  metadata: { order: '7' },
  occurredAt: '2026-11-20T09:00:00Z',
}
const program = { Name: 'Chrome 35', Company: 'Google', Family: 'Chrome' }
const tracking = {
  ...{ Client: program, OS: program, Platform: 'WebMail', UserAgent: 'Mozilla/5.0', ...common },
  ...{ Recipient: 'ada@example.org', ReceivedAt: '2026-11-20T09:00:00Z' },
  Geo: { CountryISOCode: 'RS', City: 'Novi Sad', IP: '192.0.2.1' },
}
const ours = { name: 'Chrome 35', company: 'Google', family: 'Chrome' }
const tracked = {
  ...{ ...expected, client: ours, os: ours, platform: 'WebMail', userAgent: 'Mozilla/5.0' },
  geo: { CountryISOCode: 'RS', City: 'Novi Sad', IP: '192.0.2.1' },
}
const bounce = {
  ...{
    ID: 42,
    Type: 'HardBounce',
    TypeCode: 1,
    Name: 'Hard bounce',
    Description: 'Unknown user.',
    ...common,
  },
  ...{
    Details: 'Test',
    Email: 'ada@example.org',
    From: 'shop@example.com',
    Subject: 'Hello',
    Inactive: true,
  },
  ...{ BouncedAt: '2026-11-20T09:00:00Z', DumpAvailable: true, CanActivate: false },
}
const bounced = {
  ...{ ...expected, bounceId: 42, bounceType: 'HardBounce', bounceTypeCode: 1, name: 'Hard bounce' },
  ...{ description: 'Unknown user.', details: 'Test', from: 'shop@example.com', subject: 'Hello' },
  ...{ isInactive: true, canActivate: false, hasDump: true },
}

// The types of the provider’s own client say what it POSTs.
const payloads: [
  payload:
    | Models.BounceWebhook
    | Models.SpamComplaintWebhook
    | Models.DeliveryWebhook
    | Models.OpenWebhook
    | Omit<Models.ClickWebhook, 'ClickLocation'>
    | Models.SubscriptionChangeWebhook,
  event: object,
][] = [
  [
    { RecordType: 'Bounce', ...bounce },
    { type: 'bounce', ...bounced },
  ],
  [
    { RecordType: 'SpamComplaint', ...bounce },
    { type: 'spamComplaint', ...bounced },
  ],
  [
    {
      ...{ RecordType: 'Delivery', ...common, Recipient: 'ada@example.org', Details: '250 OK' },
      DeliveredAt: '2026-11-20T09:00:00Z',
    },
    { type: 'delivery', ...expected, details: '250 OK' },
  ],
  [
    { RecordType: 'Open', ...tracking, FirstOpen: true, ReadSeconds: 5 },
    { type: 'open', ...tracked, isFirst: true, readSeconds: 5 },
  ],
  [
    { RecordType: 'Click', ...tracking, OriginalLink: 'https://example.com', ...{ ClickLocation: 'HTML' } },
    { type: 'click', ...tracked, link: 'https://example.com', clickLocation: 'HTML' },
  ],
  [
    {
      ...{ RecordType: 'SubscriptionChange', ...common, Recipient: 'ada@example.org', Origin: 'Recipient' },
      ...{ ChangedAt: '2026-11-20T09:00:00Z', SuppressSending: true, SuppressionReason: 'HardBounce' },
    },
    {
      type: 'subscriptionChange',
      ...expected,
      isSuppressed: true,
      reason: 'HardBounce',
      origin: 'Recipient',
    },
  ],
]

describe('parseMailEvent', () => {
  it.each(payloads)('reads the payload %j', (payload, event) => {
    expect(parseMailEvent(JSON.parse(JSON.stringify(payload)))).toEqual({ ...event, payload })
  })

  it('reads what the payload lacks as null, and keeps fields that it does not know', () => {
    const payload = {
      RecordType: 'SubscriptionChange',
      Recipient: 'a@b.c',
      Tag: '',
      Metadata: { id: 7, x: {} },
      New: 1,
    }
    expect(parseMailEvent(payload)).toEqual({
      ...{
        type: 'subscriptionChange',
        recipient: 'a@b.c',
        messageId: null,
        messageStream: null,
        serverId: null,
      },
      ...{
        tag: null,
        metadata: { id: '7' },
        occurredAt: null,
        isSuppressed: false,
        reason: null,
        origin: null,
      },
      payload,
    })
  })

  it('takes no recipient for inactive unless the payload says so', () => {
    const event = parseMailEvent({ RecordType: 'Bounce', Email: 'a@b.c' })
    expect(event).toMatchObject({ isInactive: false, canActivate: false, hasDump: false })
  })

  it.each(['Inbound', 'toString', undefined])('accepts the unknown kind %s', (RecordType) => {
    const payload = { RecordType, From: 'a@b.c' }
    expect(parseMailEvent(payload)).toEqual({ type: 'unknown', recordType: RecordType ?? null, payload })
  })

  it('reads a text and bytes as well', () => {
    const text = JSON.stringify({ RecordType: 'Bounce', Email: 'a@b.c' })
    const bytes = Buffer.from(text)
    const forms = [text, bytes, new Uint8Array(bytes).buffer]
    expect(forms.map((form) => parseMailEvent(form).type)).toEqual(['bounce', 'bounce', 'bounce'])
  })

  it.each([undefined, null, 7, '{', '[]', Buffer.from('7'), []])('refuses %j', (body) => {
    expect(() => parseMailEvent(body)).toThrow(
      expect.objectContaining({ code: 'invalid_event', status: 400 }),
    )
  })

  it('refuses a known event without a recipient, by its path', () => {
    const errors = [{ path: 'Email', message: expect.any(String) }]
    expect(() => parseMailEvent({ RecordType: 'Bounce', Email: 7 })).toThrow(
      expect.objectContaining({ errors }),
    )
  })

  it('has a type for each event', () => {
    expectTypeOf<Extract<MailEvent, { type: 'bounce' }>>().toHaveProperty('isInactive')
    expectTypeOf<MailEvent['type']>().toEqualTypeOf<
      'bounce' | 'delivery' | 'open' | 'click' | 'spamComplaint' | 'subscriptionChange' | 'unknown'
    >()
  })
})
