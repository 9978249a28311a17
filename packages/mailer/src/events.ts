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

/** The fields of every known event. A field that the payload lacks is `null`. */
export interface MailEventFields {
  /** The recipient that the event is about. */
  recipient: string
  /** The id that `sendEmail` returned. */
  messageId: string | null
  /** When it happened: ISO 8601, as the provider writes it. */
  occurredAt: string | null
  messageStream: string | null
  /** The provider’s id of the mail server. */
  serverId: number | null
  /** The message’s `tag`. */
  tag: string | null
  /** The message’s `metadata`. */
  metadata: Record<string, string>
  /** The payload as it came, with the fields that are not listed here. */
  payload: Readonly<Record<string, unknown>>
}

interface BounceFields extends MailEventFields {
  /** The provider’s id of the bounce. */
  bounceId: number | null
  /** For example `HardBounce`, `SoftBounce`, `Transient` or `SpamComplaint`. */
  bounceType: string | null
  bounceTypeCode: number | null
  /** The kind of bounce in words. */
  name: string | null
  description: string | null
  /** The words of the receiving server. */
  details: string | null
  from: string | null
  subject: string | null
  /** Whether the provider sends nothing more to this recipient. */
  isInactive: boolean
  /** Whether the recipient can be activated again. */
  canActivate: boolean
  /** Whether the provider keeps the raw bounce. */
  hasDump: boolean
}

/**
 * A mail bounced.
 *
 * @see https://postmarkapp.com/developer/webhooks/bounce-webhook
 */
export interface BounceEvent extends BounceFields {
  type: 'bounce'
}

/**
 * A recipient reported a mail as spam.
 *
 * @see https://postmarkapp.com/developer/webhooks/spam-complaint-webhook
 */
export interface SpamComplaintEvent extends BounceFields {
  type: 'spamComplaint'
}

/**
 * The receiving server accepted a mail.
 *
 * @see https://postmarkapp.com/developer/webhooks/delivery-webhook
 */
export interface DeliveryEvent extends MailEventFields {
  type: 'delivery'
  /** The words of the receiving server. */
  details: string | null
}

/** The program of a recipient, or its operating system. */
export interface MailProgram {
  name: string | null
  company: string | null
  family: string | null
}

interface TrackingFields extends MailEventFields {
  client: MailProgram | null
  os: MailProgram | null
  /** For example `Desktop`, `Mobile` or `WebMail`. */
  platform: string | null
  userAgent: string | null
  /** Where the recipient was, as the provider’s fields: `Country`, `City` and others. */
  geo: Readonly<Record<string, string>>
}

/**
 * A recipient opened a mail.
 *
 * @see https://postmarkapp.com/developer/webhooks/open-tracking-webhook
 */
export interface OpenEvent extends TrackingFields {
  type: 'open'
  /** Whether this recipient opened the mail for the first time. */
  isFirst: boolean
  /** How long the mail was read, in seconds. */
  readSeconds: number | null
}

/**
 * A recipient clicked a link.
 *
 * @see https://postmarkapp.com/developer/webhooks/click-webhook
 */
export interface ClickEvent extends TrackingFields {
  type: 'click'
  /** The link as the message has it. */
  link: string | null
  /** `HTML` or `Text`. */
  clickLocation: string | null
}

/**
 * The provider stopped to send to a recipient, or sends again.
 *
 * @see https://postmarkapp.com/developer/webhooks/subscription-change-webhook
 */
export interface SubscriptionChangeEvent extends MailEventFields {
  type: 'subscriptionChange'
  /** `true`: the provider sends nothing more to this recipient in this stream. */
  isSuppressed: boolean
  /** `HardBounce`, `SpamComplaint` or `ManualSuppression`; `null` if the recipient was activated. */
  reason: string | null
  /** `Recipient`, `Customer` or `Admin`. */
  origin: string | null
}

/** An event of a kind that this version does not know. */
export interface UnknownEvent {
  type: 'unknown'
  /** The provider’s `RecordType`. */
  recordType: string | null
  payload: Readonly<Record<string, unknown>>
}

/** An event of the provider. */
export type MailEvent =
  | BounceEvent
  | DeliveryEvent
  | OpenEvent
  | ClickEvent
  | SpamComplaintEvent
  | SubscriptionChangeEvent
  | UnknownEvent

type Payload = Readonly<Record<string, unknown>>

const readers: Record<string, (payload: Payload) => MailEvent> = {
  Bounce: (payload) => ({ type: 'bounce', ...readBounce(payload) }),
  SpamComplaint: (payload) => ({ type: 'spamComplaint', ...readBounce(payload) }),
  Delivery: (payload) => ({
    type: 'delivery',
    ...readCommon(payload, 'Recipient', 'DeliveredAt'),
    details: text(payload, 'Details'),
  }),
  Open: (payload) => ({
    type: 'open',
    ...readTracking(payload),
    isFirst: payload.FirstOpen === true,
    readSeconds: readNumber(payload, 'ReadSeconds') ?? null,
  }),
  Click: (payload) => ({
    type: 'click',
    ...readTracking(payload),
    link: text(payload, 'OriginalLink'),
    clickLocation: text(payload, 'ClickLocation'),
  }),
  SubscriptionChange: (payload) => ({
    type: 'subscriptionChange',
    ...readCommon(payload, 'Recipient', 'ChangedAt'),
    isSuppressed: payload.SuppressSending === true,
    reason: text(payload, 'SuppressionReason'),
    origin: text(payload, 'Origin'),
  }),
}

/**
 * Reads a payload that the provider POSTed. It ignores fields and accepts kinds of events that it does not know.
 * It does not check who sent the payload: protect the endpoint, for example with a password in its URL.
 *
 * @param given the parsed JSON, or its text or bytes
 * @throws {IntegrationError} `invalid_event` if the body is no JSON object, or a known event without a recipient
 */
export function parseMailEvent(given: unknown): MailEvent {
  const body = parsed(given)
  if (!isRecord(body) || Array.isArray(body)) {
    throw new IntegrationError('invalid_event', 'The mail event is no JSON object.', {
      hint: 'Pass the body: parseMailEvent(await request.json()).',
    })
  }
  const recordType = text(body, 'RecordType')
  const read = recordType !== null && Object.hasOwn(readers, recordType) ? readers[recordType] : undefined
  return read ? read(body) : { type: 'unknown', recordType, payload: body }
}

function parsed(body: unknown): unknown {
  const isBytes = ArrayBuffer.isView(body) || body instanceof ArrayBuffer
  if (typeof body !== 'string' && !isBytes) return body
  try {
    return JSON.parse(isBytes ? new TextDecoder().decode(body) : body)
  } catch {
    return undefined
  }
}

function readCommon(payload: Payload, recipientName: string, timeName: string): MailEventFields {
  const recipient = text(payload, recipientName)
  if (!recipient) {
    const errors = [{ path: recipientName, message: 'is required: expected text' }]
    throw new IntegrationError('invalid_event', `The mail event has no ${recipientName}.`, { errors })
  }
  return {
    recipient,
    messageId: text(payload, 'MessageID'),
    occurredAt: text(payload, timeName),
    messageStream: text(payload, 'MessageStream'),
    serverId: readNumber(payload, 'ServerID') ?? null,
    tag: text(payload, 'Tag'),
    metadata: readTexts(payload.Metadata),
    payload,
  }
}

function readBounce(payload: Payload): BounceFields {
  return {
    ...readCommon(payload, 'Email', 'BouncedAt'),
    bounceId: readNumber(payload, 'ID') ?? null,
    bounceType: text(payload, 'Type'),
    bounceTypeCode: readNumber(payload, 'TypeCode') ?? null,
    name: text(payload, 'Name'),
    description: text(payload, 'Description'),
    details: text(payload, 'Details'),
    from: text(payload, 'From'),
    subject: text(payload, 'Subject'),
    isInactive: payload.Inactive === true,
    canActivate: payload.CanActivate === true,
    hasDump: payload.DumpAvailable === true,
  }
}

function readTracking(payload: Payload): TrackingFields {
  return {
    ...readCommon(payload, 'Recipient', 'ReceivedAt'),
    client: readProgram(payload.Client),
    os: readProgram(payload.OS),
    platform: text(payload, 'Platform'),
    userAgent: text(payload, 'UserAgent'),
    geo: readTexts(payload.Geo),
  }
}

function readProgram(value: unknown): MailProgram | null {
  if (!isRecord(value)) return null
  return { name: text(value, 'Name'), company: text(value, 'Company'), family: text(value, 'Family') }
}

function readTexts(value: unknown): Record<string, string> {
  if (!isRecord(value)) return {}
  const scalars = Object.entries(value).filter(([, each]) => typeof each !== 'object')
  return Object.fromEntries(scalars.map(([name, each]) => [name, String(each)]))
}

function text(payload: unknown, name: string): string | null {
  return readText(payload, name) || null
}
