/**
 * The provider's wire format, as far as it is used: what is sent, and what is read of the answers. Read
 * tolerantly and without a schema library, because who only sends mail should not load one.
 *
 * @see https://postmarkapp.com/developer/api/email-api
 * @module
 */

/** A message, as `POST /email` takes it. */
export interface WireMessage {
  From: string
  To: string
  Cc: string | undefined
  Bcc: string | undefined
  ReplyTo: string | undefined
  Subject: string
  HtmlBody: string | undefined
  TextBody: string | undefined
  Tag: string | undefined
  MessageStream: string | undefined
  Headers: { Name: string; Value: string }[] | undefined
  Metadata: Record<string, string> | undefined
  Attachments:
    | { Name: string; Content: string; ContentType: string; ContentID: string | undefined }[]
    | undefined
  TrackOpens: boolean | undefined
  TrackLinks: string | undefined
}

/** What the provider says of one message: accepted with an id, or refused with a code. */
export type SendAnswer =
  | { accepted: true; messageId: string; submittedAt: string; to: string; message: string }
  | { accepted: false; refusal: Refusal }

/** The provider's body for a failure. */
export interface Refusal {
  errorCode: number
  message: string
}

/** Totals of outbound mail. */
export interface DeliveryStats {
  sent: number
  bounced: number
  /** In percent. */
  bounceRate: number
  spamComplaints: number
  opens: number
  tracked: number
}

/** The mail server that a token belongs to. */
export interface ServerDetails {
  id: number
  name: string
  /** `Live`, or `Sandbox` where nothing is really delivered. */
  deliveryType: string | undefined
}

/** @returns `undefined` where it is no answer to a single send */
export function readSendAnswer(body: unknown): SendAnswer | undefined {
  const refusal = readRefusal(body)
  if (!refusal) return undefined
  if (refusal.errorCode !== 0) return { accepted: false, refusal }
  const messageId = readText(body, 'MessageID')
  if (!messageId) return undefined
  const submittedAt = toUtc(readText(body, 'SubmittedAt'))
  return { accepted: true, messageId, submittedAt, to: readText(body, 'To') ?? '', message: refusal.message }
}

/** @returns `undefined` where it is not one answer for each of `count` messages */
export function readBatchAnswer(body: unknown, count: number): SendAnswer[] | undefined {
  if (!Array.isArray(body) || body.length !== count) return undefined
  const answers: SendAnswer[] = []
  const items: unknown[] = body
  for (const item of items) {
    const answer = readSendAnswer(item)
    if (!answer) return undefined
    answers.push(answer)
  }
  return answers
}

/** @returns `undefined` where there is no error code */
export function readRefusal(body: unknown): Refusal | undefined {
  const errorCode = readNumber(body, 'ErrorCode')
  return errorCode === undefined ? undefined : { errorCode, message: readText(body, 'Message') ?? '' }
}

/** @returns `undefined` where it is not a record of totals */
export function readStats(body: unknown): DeliveryStats | undefined {
  const sent = readNumber(body, 'Sent')
  if (sent === undefined) return undefined
  return {
    sent,
    bounced: readNumber(body, 'Bounced') ?? 0,
    bounceRate: readNumber(body, 'BounceRate') ?? 0,
    spamComplaints: readNumber(body, 'SpamComplaints') ?? 0,
    opens: readNumber(body, 'Opens') ?? 0,
    tracked: readNumber(body, 'Tracked') ?? 0,
  }
}

/** @returns `undefined` where it is not a server */
export function readServer(body: unknown): ServerDetails | undefined {
  const id = readNumber(body, 'ID')
  if (id === undefined) return undefined
  return { id, name: readText(body, 'Name') ?? '', deliveryType: readText(body, 'DeliveryType') }
}

/**
 * The recipients that the provider left out of an accepted message, because they are inactive. It names them
 * in prose alone, so they are found by looking for each recipient, whatever the wording.
 */
export function readRejected(message: string, recipients: readonly string[]): string[] {
  if (!message.includes('@')) return []
  const named = new Set(
    message
      .toLowerCase()
      .split(/[\s,;<>"]+/)
      .map((word) => word.replace(/\.$/, '')),
  )
  return recipients.filter((address) => named.has(address.toLowerCase()))
}

/**
 * What the provider said beside an accepted message that is neither a plain yes nor about recipients it left
 * out: so that a wording nobody knew is seen, and not taken for a yes.
 */
export function readNotice(message: string, rejected: readonly string[]): string | null {
  const known = message === 'OK' || message === 'Test job accepted' || message === '' || rejected.length > 0
  return known ? null : message
}

let latest = { time: '', utc: '' }

// All messages of a call mostly have the same time, and reading it takes longer than the rest of an answer.
function toUtc(time = ''): string {
  if (time !== '' && time === latest.time) return latest.utc
  const date = new Date(time)
  if (Number.isNaN(date.getTime())) return new Date().toISOString()
  latest = { time, utc: date.toISOString() }
  return latest.utc
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

function readField(body: unknown, name: string): unknown {
  return isRecord(body) ? body[name] : undefined
}

function readText(body: unknown, name: string): string | undefined {
  const value = readField(body, name)
  return typeof value === 'string' ? value : undefined
}

function readNumber(body: unknown, name: string): number | undefined {
  const value = readField(body, name)
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}
