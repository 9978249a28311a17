import type { Models } from 'postmark'
import { expect, expectTypeOf, it } from 'vitest'
import { type MailEvent, parseMailEvent } from '../src/events.ts'

const time = '2026-11-20T09:00:00Z'
const to = { Recipient: 'ada@example.org' }
const ids = { MessageID: 'm_1', MessageStream: 'outbound', ServerID: 23 }
const common = { ...ids, Tag: 'welcome', Metadata: { order: '7' } }
const known = { recipient: 'ada@example.org', messageId: 'm_1', messageStream: 'outbound', serverId: 23 }
const expected = { ...known, tag: 'welcome', metadata: { order: '7' }, occurredAt: time }
const program = { Name: 'Chrome 35', Company: 'Google', Family: 'Chrome' }
const place = { Platform: 'WebMail', UserAgent: 'Mozilla/5.0', Geo: { City: 'Novi Sad' }, ReceivedAt: time }
const tracking = { ...common, ...to, ...place, Client: program, OS: program }
const kind = { ID: 42, Type: 'HardBounce', TypeCode: 1, Name: 'Hard bounce', Description: 'Unknown user.' }
const mail = { Details: 'Test', Email: 'ada@example.org', From: 'shop@example.com', Subject: 'Hello' }
const flags = { Inactive: true, DumpAvailable: true, CanActivate: false }
const bounce = { ...common, ...kind, ...mail, ...flags, BouncedAt: time }
const bounced = {
  ...{ ...expected, bounceId: 42, bounceType: 'HardBounce', name: 'Hard bounce' },
  ...{ description: 'Unknown user.', details: 'Test', from: 'shop@example.com', subject: 'Hello' },
  ...{ isInactive: true, canActivate: false },
}
const suppression = { SuppressSending: true, SuppressionReason: 'HardBounce', Origin: 'Recipient' }
const suppressed = { isSuppressed: true, reason: 'HardBounce', origin: 'Recipient' }

// The types of the provider’s own client say what it POSTs.
type Payload =
  | Models.BounceWebhook
  | Models.SpamComplaintWebhook
  | Models.DeliveryWebhook
  | Models.OpenWebhook
  | Omit<Models.ClickWebhook, 'ClickLocation'>
  | Models.SubscriptionChangeWebhook
const click = { OriginalLink: 'https://example.com', ClickLocation: 'HTML' }
const delivery = { ...common, ...to, Details: '250 OK', DeliveredAt: time }
const payloads: [Payload, type: MailEvent['type'], object][] = [
  [{ RecordType: 'Bounce', ...bounce }, 'bounce', bounced],
  [{ RecordType: 'SpamComplaint', ...bounce }, 'spamComplaint', bounced],
  [{ RecordType: 'Delivery', ...delivery }, 'delivery', { ...expected, details: '250 OK' }],
  [
    { RecordType: 'Open', ...tracking, FirstOpen: true, ReadSeconds: 5 },
    'open',
    { ...expected, isFirst: true },
  ],
  [{ RecordType: 'Click', ...tracking, ...click }, 'click', { ...expected, link: click.OriginalLink }],
  [
    { RecordType: 'SubscriptionChange', ...common, ...to, ChangedAt: time, ...suppression },
    'subscriptionChange',
    { ...expected, ...suppressed },
  ],
]

it.each(payloads)('reads the payload %j', (payload, type, event) => {
  expect(parseMailEvent(JSON.parse(JSON.stringify(payload)))).toEqual({ type, ...event, payload })
})

it('reads what the payload lacks as null, and keeps fields that it does not know', () => {
  const payload = { RecordType: 'SubscriptionChange', ...to, Tag: '', Metadata: { id: 7, x: {} }, New: 1 }
  const lacking = { messageId: null, messageStream: null, serverId: null, tag: null, occurredAt: null }
  expect(parseMailEvent(payload)).toEqual({
    ...{ type: 'subscriptionChange', recipient: 'ada@example.org', ...lacking, metadata: { id: '7' } },
    ...{ isSuppressed: false, reason: null, origin: null, payload },
  })
})

it('takes no recipient for inactive unless the payload says so', () => {
  expect(parseMailEvent({ RecordType: 'Bounce', Email: 'a@b.c' })).toMatchObject({ isInactive: false })
})

it.each(['Inbound', 'toString', undefined])('accepts the unknown kind %s', (RecordType) => {
  const payload = { RecordType, From: 'a@b.c' }
  expect(parseMailEvent(payload)).toEqual({ type: 'unknown', recordType: RecordType ?? null, payload })
  expectTypeOf<Extract<MailEvent, { type: 'bounce' }>>().toHaveProperty('isInactive')
})

it.each([undefined, null, 7, '{}', [], { RecordType: 'Bounce', Email: 7 }])('refuses %j', (body) => {
  const errors = Object(body).RecordType ? [{ path: 'Email', message: expect.any(String) }] : undefined
  expect(() => parseMailEvent(body)).toThrow(expect.objectContaining({ code: 'invalid_event', errors }))
})
