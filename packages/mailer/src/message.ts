/**
 * From a message as a person writes it to the one on the wire. What the provider could only refuse, or what
 * could smuggle a header in, is refused here, before anything leaves.
 *
 * @module
 */
import { type FieldError, IntegrationError } from '@org/core/errors'
import { type Address, formatAddress, hasControlCharacter, parseAddress } from './address.ts'
import type { WireMessage } from './wire.ts'

/** A file that goes with a message. */
export interface Attachment {
  /** The file's name. */
  name: string
  /** The file: bytes, or text that is base64 already. */
  content: string | Uint8Array
  /** For example `application/pdf`. */
  contentType: string
  /** For an inline image: what `cid:` names in the HTML. */
  contentId?: string | undefined
}

/** A mail. */
export interface Message {
  /** `a@b.c` or `Name <a@b.c>`; a list for several. To, cc and bcc hold at most 50 together. */
  to: string | readonly string[]
  subject: string
  /** At least one of htmlBody and textBody. */
  htmlBody?: string | undefined
  textBody?: string | undefined
  /** Another name for htmlBody. */
  body?: string | undefined
  /**
   * The sender: a verified signature, or an address of a verified domain.
   * @default the mailer's `fromEmail`
   */
  from?: string | undefined
  cc?: string | readonly string[] | undefined
  bcc?: string | readonly string[] | undefined
  replyTo?: string | readonly string[] | undefined
  /** A category for the statistics. */
  tag?: string | undefined
  /** @default the mailer's `messageStream` */
  messageStream?: string | undefined
  /** Further headers, by name. */
  headers?: Readonly<Record<string, string>> | undefined
  /** Up to 10 values that the provider keeps with the mail. */
  metadata?: Readonly<Record<string, string>> | undefined
  attachments?: readonly Attachment[] | undefined
  trackOpens?: boolean | undefined
  trackLinks?: 'None' | 'HtmlAndText' | 'HtmlOnly' | 'TextOnly' | undefined
}

/** What fills in for what a message leaves out. */
export interface MessageDefaults {
  fromEmail: string | undefined
  messageStream: string
}

/** A message that is ready to leave. */
export interface ComposedMessage {
  /** As JSON, in the provider's format. */
  json: string
  /** The size of `json` in UTF-8; of a small message, what it is at most. */
  bytes: number
  /** The To header. */
  to: string
  /** Every recipient's bare address: to, cc and bcc. */
  recipients: string[]
}

const MAX_RECIPIENTS = 50
const MAX_MESSAGE_BYTES = 10 * 1024 * 1024
/** So many characters can't make a difference: 500 such messages fit into a call, whatever they hold. */
const SMALL_MESSAGE_LENGTH = 30_000
const MAX_BYTES_PER_CHARACTER = 3
const NOBODY: readonly Address[] = []
const encoder = new TextEncoder()
const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/

/**
 * Checks a message and puts it into the provider's format.
 *
 * @throws {IntegrationError} `invalid_arguments`, with the path of each fault; it names no address and no text
 */
export function composeMessage(message: Message, defaults: MessageDefaults): ComposedMessage {
  const errors: FieldError[] = []
  const fault = (path: string, text: string) => {
    errors.push({ path, message: text })
  }
  const line = (path: string, value: string | undefined) => {
    if (value !== undefined && hasControlCharacter(value))
      fault(path, 'holds a line break or another control character')
    return value
  }
  const list = (path: string, value: string | readonly string[] | undefined): readonly Address[] => {
    if (!value && value !== '') return NOBODY
    const items = typeof value === 'string' ? [value] : value
    const addresses: Address[] = []
    items.forEach((item, index) => {
      const parsed = typeof item === 'string' ? parseAddress(item) : undefined
      if (parsed) addresses.push(parsed)
      else
        fault(
          items === value ? `${path}[${index}]` : path,
          'expected one address, a@b.c or Name <a@b.c>; several go into a list',
        )
    })
    return addresses
  }

  const to = list('to', message.to)
  if (to.length === 0 && errors.length === 0) fault('to', 'is required: at least one recipient')
  const cc = list('cc', message.cc)
  const bcc = list('bcc', message.bcc)
  const replyTo = list('replyTo', message.replyTo)
  const recipients = to.map(({ address }) => address)
  for (const { address } of cc) recipients.push(address)
  for (const { address } of bcc) recipients.push(address)
  if (recipients.length > MAX_RECIPIENTS) {
    fault('to', `at most ${MAX_RECIPIENTS} recipients with cc and bcc, and these are ${recipients.length}`)
  }
  const sender = message.from ?? defaults.fromEmail
  if (sender === undefined) fault('from', 'is required, because no fromEmail is configured')
  const from = list('from', sender)
  if (!message.subject) fault('subject', 'is required')
  if (message.body !== undefined && message.htmlBody !== undefined)
    fault('body', 'is another name for htmlBody; give one of them')
  const htmlBody = message.htmlBody ?? message.body
  if (!htmlBody && !message.textBody) fault('htmlBody', 'is required, or textBody: a message needs a body')
  for (const [name, value] of entriesOf(message.headers)) {
    // A name is only repeated in the path where it can't be an address, or hold a line break.
    if (HEADER_NAME.test(name)) line(`headers.${name}`, value)
    else fault('headers', 'has a name that no header can have')
  }
  for (const [name, value] of entriesOf(message.metadata)) line('metadata', name + value)
  for (const [index, { name, contentType, contentId = '' }] of message.attachments?.entries() ?? []) {
    line(`attachments[${index}]`, name + contentType + contentId)
  }

  const wire: WireMessage = {
    From: formatList(from),
    To: formatList(to),
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
  }
  const json = JSON.stringify(wire)
  const bytes = sizeOf(json)
  if (bytes > MAX_MESSAGE_BYTES) fault('', 'the message is larger than 10 MB with its attachments')
  if (errors.length > 0) throw invalidMessage(errors)
  return { json, bytes, to: wire.To, recipients }
}

/** The error for a message that must not leave. */
export function invalidMessage(errors: readonly FieldError[]): IntegrationError {
  const first = errors[0] ? `${errors[0].path} ${errors[0].message}`.trim() : 'it does not fit'
  const more = errors.length > 1 ? `, and ${errors.length - 1} more` : ''
  return new IntegrationError('invalid_arguments', `The message can’t be sent: ${first}${more}.`, { errors })
}

function formatList(addresses: readonly Address[]): string {
  let text = ''
  for (const address of addresses)
    text += text === '' ? formatAddress(address) : `, ${formatAddress(address)}`
  return text
}

// Encoding each message only to measure it takes as long as everything else that is done with it.
function sizeOf(json: string): number {
  return json.length <= SMALL_MESSAGE_LENGTH
    ? json.length * MAX_BYTES_PER_CHARACTER
    : encoder.encode(json).byteLength
}

function entriesOf(texts: Readonly<Record<string, string>> | undefined): [string, string][] {
  return texts ? Object.entries(texts) : []
}

function toBase64(bytes: Uint8Array): string {
  let binary = ''
  // In pieces, because a call takes only so many arguments.
  for (let start = 0; start < bytes.length; start += 0x8000) {
    binary += String.fromCharCode(...bytes.subarray(start, start + 0x8000))
  }
  return btoa(binary)
}
