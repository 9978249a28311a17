/**
 * The events that the provider POSTs to your own endpoint: bounces, deliveries, opens, clicks, complaints and
 * changed subscriptions. It calls nobody, and loads no schema library. The platform’s webhook is
 * `@org/mailer/webhook`.
 *
 * @example
 * ```ts
 * import { parseMailEvent } from '@org/mailer/events'
 *
 * const event = parseMailEvent(await request.json())
 * if (event.type === 'bounce' && event.isInactive) await unsubscribe(event.recipient)
 * ```
 * @see https://postmarkapp.com/developer/webhooks/webhooks-overview
 * @module
 */
import { IntegrationError } from '@org/core/errors'
import { isRecord, readNumber, readText } from './fields.ts'

type Payload = Readonly<Record<string, unknown>>

/** An event of a kind that this version does not know. */
export interface UnknownEvent {
  type: 'unknown'
  /** The provider’s `RecordType`. */
  recordType: string | null
  payload: Payload
}

/**
 * An event of the provider; `type` tells which. A field that the payload lacks is `null`.
 *
 * @see https://postmarkapp.com/developer/webhooks/webhooks-overview
 */
export type MailEvent =
  | ({ type: 'bounce' | 'spamComplaint' } & ReturnType<typeof readBounce>)
  | ({ type: 'delivery' } & ReturnType<typeof readDelivery>)
  | ({ type: 'open' } & ReturnType<typeof readOpen>)
  | ({ type: 'click' } & ReturnType<typeof readClick>)
  | ({ type: 'subscriptionChange' } & ReturnType<typeof readChange>)
  | UnknownEvent

/**
 * Reads a payload that the provider POSTed. It ignores fields and accepts kinds of events that it does not know.
 * It does not check who sent the payload: protect the endpoint, for example with a password in its URL.
 *
 * @param body the parsed JSON
 * @throws {IntegrationError} `invalid_event` if the body is no JSON object, or a known event without a recipient
 */
export function parseMailEvent(body: unknown): MailEvent {
  if (!isRecord(body) || Array.isArray(body)) {
    throw new IntegrationError('invalid_event', 'The mail event is no JSON object.', {
      hint: 'Pass the body: parseMailEvent(await request.json()).',
    })
  }
  switch (body.RecordType) {
    case 'Bounce':
      return { type: 'bounce', ...readBounce(body) }
    case 'SpamComplaint':
      return { type: 'spamComplaint', ...readBounce(body) }
    case 'Delivery':
      return { type: 'delivery', ...readDelivery(body) }
    case 'Open':
      return { type: 'open', ...readOpen(body) }
    case 'Click':
      return { type: 'click', ...readClick(body) }
    case 'SubscriptionChange':
      return { type: 'subscriptionChange', ...readChange(body) }
    default:
      return { type: 'unknown', recordType: text(body, 'RecordType'), payload: body }
  }
}

function readCommon(payload: Payload, recipientName: string, timeName: string) {
  const recipient = text(payload, recipientName)
  if (!recipient) {
    const errors = [{ path: recipientName, message: 'is required: expected text' }]
    throw new IntegrationError('invalid_event', `The mail event has no ${recipientName}.`, { errors })
  }
  return {
    /** The recipient that the event is about. */
    recipient,
    /** The id that `sendEmail` returned. */
    messageId: text(payload, 'MessageID'),
    /** When it happened: ISO 8601, as the provider writes it. */
    occurredAt: text(payload, timeName),
    messageStream: text(payload, 'MessageStream'),
    /** The provider’s id of the mail server. */
    serverId: number(payload, 'ServerID'),
    /** The message’s `tag`. */
    tag: text(payload, 'Tag'),
    /** The message’s `metadata`. */
    metadata: readTexts(payload.Metadata),
    /** The payload as it came, with the fields that are not listed here, such as the program that opened a mail. */
    payload,
  }
}

function readBounce(payload: Payload) {
  return {
    ...readCommon(payload, 'Email', 'BouncedAt'),
    /** The provider’s id of the bounce. */
    bounceId: number(payload, 'ID'),
    /** For example `HardBounce`, `SoftBounce`, `Transient` or `SpamComplaint`. */
    bounceType: text(payload, 'Type'),
    /** The kind of bounce in words. */
    name: text(payload, 'Name'),
    description: text(payload, 'Description'),
    /** The words of the receiving server. */
    details: text(payload, 'Details'),
    from: text(payload, 'From'),
    subject: text(payload, 'Subject'),
    /** Whether the provider sends nothing more to this recipient. */
    isInactive: payload.Inactive === true,
    /** Whether the recipient can be activated again. */
    canActivate: payload.CanActivate === true,
  }
}

function readDelivery(payload: Payload) {
  return { ...readCommon(payload, 'Recipient', 'DeliveredAt'), details: text(payload, 'Details') }
}

function readOpen(payload: Payload) {
  return {
    ...readCommon(payload, 'Recipient', 'ReceivedAt'),
    /** Whether this recipient opened the mail for the first time. */
    isFirst: payload.FirstOpen === true,
  }
}

function readClick(payload: Payload) {
  return {
    ...readCommon(payload, 'Recipient', 'ReceivedAt'),
    /** The link as the message has it. */
    link: text(payload, 'OriginalLink'),
  }
}

function readChange(payload: Payload) {
  return {
    ...readCommon(payload, 'Recipient', 'ChangedAt'),
    /** `true`: the provider sends nothing more to this recipient in this stream. */
    isSuppressed: payload.SuppressSending === true,
    /** `HardBounce`, `SpamComplaint` or `ManualSuppression`; `null` if the recipient was activated. */
    reason: text(payload, 'SuppressionReason'),
    /** `Recipient`, `Customer` or `Admin`. */
    origin: text(payload, 'Origin'),
  }
}

function readTexts(value: unknown): Record<string, string> {
  if (!isRecord(value)) return {}
  const scalars = Object.entries(value).filter(([, each]) => typeof each !== 'object')
  return Object.fromEntries(scalars.map(([name, each]) => [name, String(each)]))
}

function text(payload: unknown, name: string): string | null {
  return readText(payload, name) || null
}

function number(payload: unknown, name: string): number | null {
  return readNumber(payload, name) ?? null
}
