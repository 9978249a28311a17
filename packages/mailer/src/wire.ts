/**
 * The provider’s wire format. The readers use no schema library, because the SDK must not load one, and they
 * ignore fields that they do not know.
 *
 * @see https://postmarkapp.com/developer/api/email-api
 * @module
 */
import { isRecord, readNumber, readText } from './fields.ts'

/** The words about 50 recipients have 17,000 characters, and each of them is searched for. */
const LONGEST_MESSAGE = 20_000
/** The provider’s ids have 36 characters. */
const LONGEST_ID = 500

/** The provider’s response for one message: accepted with an id, or refused with a code. */
export type SendResponse =
  | { accepted: true; messageId: string; submittedAt: string; to: string; message: string }
  | { accepted: false; refusal: Refusal }

/** The provider’s body for a failure. */
export interface Refusal {
  errorCode: number
  message: string
}

/** The mail server that a token belongs to. */
export interface ServerDetails {
  id: number
  name: string
  /** `Live`; or `Sandbox`: the server accepts mail, and delivers none. */
  deliveryType: string | undefined
}

/**
 * Reads the response for one message. During delays the provider leaves out the code of an accepted one.
 *
 * @returns `undefined` if the body is not a response for one message
 */
export function readSendResponse(body: unknown): SendResponse | undefined {
  if (!isRecord(body)) return undefined
  const { ErrorCode: errorCode, MessageID: messageId, To: given, SubmittedAt: time } = body
  if (errorCode != null && errorCode !== 0) {
    const refusal = readRefusal(body)
    return refusal && { accepted: false, refusal }
  }
  const to = typeof given === 'string' ? given : ''
  if (typeof messageId !== 'string' || messageId === '' || messageId.length > LONGEST_ID) return undefined
  return { accepted: true, messageId, submittedAt: toUtc(time), to, message: readMessage(body) }
}

function readMessage(body: unknown): string {
  return (readText(body, 'Message') ?? '').slice(0, LONGEST_MESSAGE)
}

/** @returns `undefined` if the body has no error code */
export function readRefusal(body: unknown): Refusal | undefined {
  const errorCode = readNumber(body, 'ErrorCode')
  return errorCode === undefined ? undefined : { errorCode, message: readMessage(body) }
}

/** @returns `undefined` if the body does not describe a server */
export function readServer(body: unknown): ServerDetails | undefined {
  const id = readNumber(body, 'ID')
  if (id === undefined) return undefined
  return { id, name: readText(body, 'Name') ?? '', deliveryType: readText(body, 'DeliveryType') }
}

/**
 * The recipients that a text names. The provider names inactive recipients only in prose, so each recipient is searched
 * for, whatever the wording.
 */
export function findNamed(message: string, recipients: readonly string[]): string[] {
  const words = message.toLowerCase().split(/[\s,;<>"]+/)
  const named = new Set(words.map((word) => word.replace(/\.$/, '')))
  return recipients.filter((address) => named.has(address.toLowerCase()))
}

function toUtc(time: unknown): string {
  const date = new Date(typeof time === 'string' ? time : Number.NaN)
  return (Number.isNaN(date.getTime()) ? new Date() : date).toISOString()
}

/** Whether an answer names only recipients of a message, by the To header of each. One that names nobody fits every message. */
export function isAbout(answer: { to: string }, message: { to: string }): boolean {
  const own = addressesIn(message.to)
  return answer.to === message.to || addressesIn(answer.to).every((each) => own.includes(each))
}

/** The addresses in a To header, but for those that the provider writes in another script. */
function addressesIn(to: string): string[] {
  const words = to.toLowerCase().split(/[\s,;<>"]+/)
  return words.filter((word) => word.includes('@') && /^[!-~]+$/.test(word))
}
