/**
 * Checks a message, and puts it into the provider’s format. A message that the provider would refuse, or that
 * could inject a header, is not sent.
 *
 * @module
 */
import { type FieldError, IntegrationError } from '@org/core/errors'
import { ADDRESS_FAULT, type Address, formatAddress, hasControlCharacter, parseAddress } from './address.ts'

/** A file that is sent with a message. */
export interface Attachment {
  /** The file’s name. */
  name: string
  /** The file: bytes, or a base64 string. */
  content: string | Uint8Array
  /** For example `application/pdf`. */
  contentType: string
  /** For an inline image: the id that `cid:` refers to in the HTML. */
  contentId?: string | undefined
}

/** A mail. */
export interface Message {
  /** `a@b.c` or `Name <a@b.c>`, or a list of them. To, cc and bcc hold at most 50 together. */
  to: string | readonly string[]
  subject: string
  /** At least one of htmlBody and textBody is required. */
  htmlBody?: string | undefined
  textBody?: string | undefined
  /** An alias of htmlBody. */
  body?: string | undefined
  /**
   * The sender: a verified signature, or an address of a verified domain.
   * @default the mailer’s `fromEmail`
   */
  from?: string | undefined
  cc?: string | readonly string[] | undefined
  bcc?: string | readonly string[] | undefined
  replyTo?: string | readonly string[] | undefined
  /** A category for the statistics. */
  tag?: string | undefined
  /** @default the mailer’s `messageStream` */
  messageStream?: string | undefined
  /** Additional headers, by name. */
  headers?: Readonly<Record<string, string>> | undefined
  /** Up to 10 values that the provider stores with the mail. */
  metadata?: Readonly<Record<string, string>> | undefined
  attachments?: readonly Attachment[] | undefined
  trackOpens?: boolean | undefined
  trackLinks?: 'None' | 'HtmlAndText' | 'HtmlOnly' | 'TextOnly' | undefined
}

/** Any number of messages. */
export type Messages = Iterable<Message> | AsyncIterable<Message>

/** The defaults of a message. */
export interface MessageDefaults {
  fromEmail: string | undefined
  messageStream: string
}

/** A message that is ready to be sent. */
export interface ComposedMessage {
  /** The message in the provider’s format. */
  parts: readonly (string | Uint8Array<ArrayBuffer>)[]
  toCount: number
  /** The size of `json` in UTF-8; for a small message an upper bound. */
  bytes: number
  /** The To header. */
  to: string
  /** The bare addresses of to, cc and bcc. */
  recipients: string[]
}

const MAX_RECIPIENTS = 50
const MAX_MESSAGE_BYTES = 10 * 1024 * 1024
/** Below this, 500 messages always fit into one call. */
const SMALL_MESSAGE_LENGTH = 30_000
const MAX_BYTES_PER_CHARACTER = 3
const NO_ADDRESSES: readonly Address[] = []
const encoder = new TextEncoder()
const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/

/**
 * Checks a message, and puts it into the provider’s format.
 *
 * @throws {IntegrationError} `invalid_arguments`, with the path of each fault, but no address and no text
 */
export function composeMessage(message: Message, defaults: MessageDefaults): ComposedMessage {
  const errors: FieldError[] = []
  const fault = (path: string, text: string) => void errors.push({ path, message: text })
  const line = (path: string, value: string | undefined) => {
    if (value !== undefined && hasControlCharacter(value))
      fault(path, 'contains a line break or another control character')
    return value
  }
  const list = (path: string, value: string | readonly string[] | undefined): readonly Address[] => {
    if (!value && value !== '') return NO_ADDRESSES
    const items = typeof value === 'string' ? [value] : value
    const addresses: Address[] = []
    items.forEach((item, index) => {
      const address = typeof item === 'string' ? parseAddress(item) : undefined
      if (address) addresses.push(address)
      else fault(items === value ? `${path}[${index}]` : path, ADDRESS_FAULT)
    })
    return addresses
  }

  const to = list('to', message.to)
  if (to.length === 0 && errors.length === 0) fault('to', 'needs at least one recipient')
  const cc = list('cc', message.cc)
  const bcc = list('bcc', message.bcc)
  const replyTo = list('replyTo', message.replyTo)
  const recipients = to.map(({ address }) => address)
  for (const { address } of cc) recipients.push(address)
  for (const { address } of bcc) recipients.push(address)
  if (recipients.length > MAX_RECIPIENTS) {
    fault(
      'to',
      `may have ${MAX_RECIPIENTS} recipients together with cc and bcc, but has ${recipients.length}`,
    )
  }
  const sender = message.from ?? defaults.fromEmail
  if (sender === undefined) fault('from', 'is required, because no fromEmail is configured')
  const from = list('from', sender)
  if (!message.subject) fault('subject', 'is required')
  if (message.body !== undefined && message.htmlBody !== undefined)
    fault('body', 'is an alias of htmlBody: set only one of them')
  const htmlBody = message.htmlBody ?? message.body
  if (!htmlBody && !message.textBody) fault('htmlBody', 'is required, or textBody')
  for (const [name, value] of entriesOf(message.headers)) {
    // The path repeats only a valid name, which can’t be an address or contain a line break.
    if (HEADER_NAME.test(name)) line(`headers.${name}`, value)
    else fault('headers', 'contains an invalid header name')
  }
  for (const [name, value] of entriesOf(message.metadata)) line('metadata', name + value)
  for (const [index, { name, contentType, contentId = '' }] of message.attachments?.entries() ?? []) {
    line(`attachments[${index}]`, name + contentType + contentId)
  }

  const toHeader = formatList(to)
  const json = JSON.stringify({
    From: formatList(from),
    To: toHeader,
    Cc: formatList(cc) || undefined,
    Bcc: formatList(bcc) || undefined,
    ReplyTo: formatList(replyTo) || undefined,
    Subject: line('subject', message.subject) ?? '',
    HtmlBody: htmlBody,
    TextBody: message.textBody,
    Tag: line('tag', message.tag),
    MessageStream: line('messageStream', message.messageStream ?? defaults.messageStream),
    Headers: message.headers && Object.entries(message.headers).map(([Name, Value]) => ({ Name, Value })),
    Metadata: message.metadata && { ...message.metadata },
    Attachments: message.attachments?.map((attachment) => ({
      Name: attachment.name,
      Content: typeof attachment.content === 'string' ? attachment.content : toBase64(attachment.content),
      ContentType: attachment.contentType,
      ContentID: attachment.contentId,
    })),
    TrackOpens: message.trackOpens,
    TrackLinks: message.trackLinks,
  })
  const bytes = sizeOf(json)
  if (bytes > MAX_MESSAGE_BYTES) fault('', 'it is larger than 10 MB, including its attachments')
  if (errors.length > 0) throw invalidMessage(errors)
  return { parts: [json], bytes, to: toHeader, recipients, toCount: to.length }
}

/** The error for a message that must not be sent. */
export function invalidMessage(errors: readonly FieldError[]): IntegrationError {
  const first = errors[0] ? `${errors[0].path} ${errors[0].message}`.trim() : 'it is invalid'
  const more = errors.length > 1 ? `, and ${errors.length - 1} more` : ''
  return new IntegrationError('invalid_arguments', `The message can’t be sent: ${first}${more}.`, { errors })
}

function formatList(addresses: readonly Address[]): string {
  let text = ''
  for (const address of addresses)
    text += text === '' ? formatAddress(address) : `, ${formatAddress(address)}`
  return text
}

// Encoding a message only to measure it takes as long as all other work on it.
function sizeOf(json: string): number {
  return json.length <= SMALL_MESSAGE_LENGTH
    ? json.length * MAX_BYTES_PER_CHARACTER
    : encoder.encode(json).byteLength
}

const entriesOf = (texts: Message['headers']) => (texts ? Object.entries(texts) : [])

function toBase64(bytes: Uint8Array): string {
  let binary = ''
  // In chunks, because a function call takes a limited number of arguments.
  for (let start = 0; start < bytes.length; start += 0x8000) {
    binary += String.fromCharCode(...bytes.subarray(start, start + 0x8000))
  }
  return btoa(binary)
}
