import type { Models } from 'postmark'
import { expect, it } from 'vitest'
import { type MailEvent, parseMailEvent } from '../src/events.ts'

/** Our names of fields. The types of the provider’s own client say which it POSTs. */
type Names<Payload> = { [Name in keyof Payload]?: string }
const common = {
  ...{ MessageID: 'messageId', MessageStream: 'messageStream', ServerID: 'serverId' },
  ...{ Tag: 'tag', Metadata: 'metadata' },
}
const tracked = { ...common, Recipient: 'recipient', ReceivedAt: 'occurredAt' }
const bounce: Names<Models.BounceWebhook> = {
  ...{ ...common, Email: 'recipient', BouncedAt: 'occurredAt', ID: 'bounceId', Type: 'bounceType' },
  ...{ Name: 'name', Description: 'description', Details: 'details', From: 'from', Subject: 'subject' },
  ...{ Inactive: 'isInactive', CanActivate: 'canActivate' },
}
const { ReceivedAt: _, ...sent } = tracked
const delivery: Names<Models.DeliveryWebhook> = { ...sent, DeliveredAt: 'occurredAt', Details: 'details' }
const open: Names<Models.OpenWebhook> = { ...tracked, FirstOpen: 'isFirst' }
const click: Names<Models.ClickWebhook> = { ...tracked, OriginalLink: 'link' }
const change: Names<Models.SubscriptionChangeWebhook> = {
  ...{ ...sent, ChangedAt: 'occurredAt', SuppressSending: 'isSuppressed' },
  ...{ SuppressionReason: 'reason', Origin: 'origin' },
}
const values: Record<string, unknown> = {
  ...{ ServerID: 23, ID: 42, Metadata: { order: '7' } },
  ...{ Inactive: true, CanActivate: false, FirstOpen: true, SuppressSending: true },
}

it.each<[RecordType: string, type: MailEvent['type'], names: object]>([
  ['Bounce', 'bounce', bounce],
  ['SpamComplaint', 'spamComplaint', bounce],
  ['Delivery', 'delivery', delivery],
  ['Open', 'open', open],
  ['Click', 'click', click],
  ['SubscriptionChange', 'subscriptionChange', change],
])('reads a payload of the kind %s', (RecordType, type, names) => {
  const exampleOf = (name: string) => values[name] ?? `the ${name}`
  const fields = Object.keys(names).map((name) => [name, exampleOf(name)])
  const payload = { RecordType, ...Object.fromEntries(fields), New: 1 }
  const event = Object.fromEntries(Object.entries(names).map(([name, own]) => [own, exampleOf(name)]))
  expect(parseMailEvent(payload)).toEqual({ type, ...event, payload })
})

it('reads what the payload lacks as null, and a recipient neither as inactive nor as one to activate', () => {
  const named = { RecordType: 'SubscriptionChange', Recipient: 'a@b.c' }
  const payload = { ...named, Tag: '', Metadata: { id: 7, x: {} } }
  const lacking = { messageId: null, messageStream: null, serverId: null, tag: null, occurredAt: null }
  expect(parseMailEvent(payload)).toEqual({
    ...{ type: 'subscriptionChange', recipient: 'a@b.c', ...lacking, metadata: { id: '7' } },
    ...{ isSuppressed: false, reason: null, origin: null, payload },
  })
  const bounce = parseMailEvent({ RecordType: 'Bounce', Email: 'a@b.c' })
  expect(bounce).toMatchObject({ isInactive: false, canActivate: false })
  expect(bounce).toHaveProperty('metadata', {})
})

it.each(['Inbound', 'toString', undefined])('accepts the unknown kind %s', (RecordType) => {
  const payload = { RecordType, From: 'a@b.c' }
  expect(parseMailEvent(payload)).toEqual({ type: 'unknown', recordType: RecordType ?? null, payload })
})

it.each([undefined, null, 7, '{}', [], { RecordType: 'Bounce', Email: 7 }])('refuses %j', (body) => {
  const errors = Object(body).RecordType ? [{ path: 'Email', message: expect.any(String) }] : undefined
  expect(() => parseMailEvent(body)).toThrow(expect.objectContaining({ code: 'invalid_event', errors }))
})
