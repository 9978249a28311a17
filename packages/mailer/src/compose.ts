/**
 * Checks a message, and puts it into the provider’s format. A message that the provider would refuse, or that
 * could inject a header, is not sent.
 *
 * @module
 */
import { formatAddress, parseAddress } from './address.ts'
import { writeAttachments } from './attachment.ts'
import { Faults, invalidMessage } from './faults.ts'
import { isRecord } from './fields.ts'
import { isName, readHeaders, readLine, readMetadata } from './headers.ts'
import { type MessageDefaults, NO_BODY, type PlainMessage } from './message.ts'
import type { WireMessage } from './wire.ts'
import { type BodyWriter, MAX_MESSAGE_BYTES, writeBody, writeMessage } from './writing.ts'

/** A message that is ready to be sent. */
export interface ComposedMessage {
  /** The JSON of the message. */
  json: string
  /** The size of `json` in UTF-8; for a small message an upper bound. */
  bytes: number
  /** The To header. */
  to: string
  /** The bare addresses of to, cc and bcc, in this order. */
  recipients: string[]
  /** How many of the recipients are in to. */
  toCount: number
}

const MAX_RECIPIENTS = 50
const ON_OR_OFF = [true, false]
const LINKS = ['None', 'HtmlAndText', 'HtmlOnly', 'TextOnly']
const LONGEST_KEY = 255
const KEY_FAULT = `must be a number, or a text of at most ${LONGEST_KEY} characters`
const TOO_LARGE = 'it is larger than 10 MB, including its attachments'

/** The fields of a message as they may come from anywhere. */
type Unchecked = { [Name in keyof PlainMessage]?: unknown }

/**
 * Checks a message, and puts it into the provider’s format.
 *
 * @param write writes the bodies; that of a batch writes one that many messages share once
 * @throws {IntegrationError} `invalid_arguments`, with the path of each fault, but no address and no text
 */
export function composeMessage(
  message: unknown,
  defaults: MessageDefaults,
  write: BodyWriter = writeBody,
): ComposedMessage {
  const faults = new Faults()
  let composed: ComposedMessage | undefined
  try {
    if (isRecord(message)) composed = compose(message, { defaults, write }, faults)
    else faults.add('', 'it is no message: expected an object')
  } catch (cause) {
    throw invalidMessage([{ path: findUnreadable(message), message: 'can’t be read' }], { cause })
  }
  if (composed && faults.count === 0) return composed
  throw invalidMessage(faults.reported, faults)
}

function compose(
  message: Unchecked,
  { defaults, write }: { defaults: MessageDefaults; write: BodyWriter },
  faults: Faults,
): ComposedMessage | undefined {
  const { to, from, cc, bcc, replyTo, subject, tag, messageStream, htmlBody, textBody, body } = message
  const { headers, metadata, attachments, trackOpens, trackLinks, key } = message
  findUnknown(faults, message)
  const recipients: string[] = []
  const To = readAddresses(faults, 'to', to, recipients)
  const toCount = recipients.length
  if (isAbsent(to)) faults.add('to', 'needs at least one recipient')
  const Cc = readAddresses(faults, 'cc', cc, recipients)
  const Bcc = readAddresses(faults, 'bcc', bcc, recipients)
  if (recipients.length > MAX_RECIPIENTS) faults.add('to', tooMany(recipients.length))
  const ReplyTo = readAddresses(faults, 'replyTo', orElse(replyTo, defaults.replyTo), [])
  const From = readSender(faults, orElse(from, defaults.fromEmail))
  const Subject = readLine(faults, 'subject', subject)
  if (isAbsent(subject)) faults.add('subject', 'is required')
  const alias = readBody(faults, 'body', body)
  const html = readBody(faults, 'htmlBody', htmlBody)
  const TextBody = readBody(faults, 'textBody', textBody)
  if (!isAbsent(key) && (!/string|number/.test(typeof key) || String(key).length > LONGEST_KEY))
    faults.add('key', KEY_FAULT)
  if (alias !== undefined && html !== undefined)
    faults.add('body', 'is an alias of htmlBody: set only one of them')
  if (isAbsent(htmlBody) && isAbsent(textBody) && isAbsent(body)) faults.add(NO_BODY.path, NO_BODY.message)
  const wire = {
    From,
    To,
    Cc,
    Bcc,
    ReplyTo,
    Subject,
    Tag: readLine(faults, 'tag', orElse(tag, defaults.tag)),
    MessageStream: readLine(faults, 'messageStream', orElse(messageStream, defaults.messageStream)),
    Headers: readHeaders(faults, headers, defaults.headers),
    Metadata: readMetadata(faults, metadata, defaults.metadata),
    TrackOpens: readChoice(faults, 'trackOpens', orElse(trackOpens, defaults.trackOpens), ON_OR_OFF),
    TrackLinks: readChoice(faults, 'trackLinks', orElse(trackLinks, defaults.trackLinks), LINKS),
    HtmlBody: html ?? alias,
    TextBody,
  } satisfies Record<Exclude<keyof WireMessage, 'Attachments'>, unknown>
  if ((wire.HtmlBody?.length ?? 0) + (TextBody?.length ?? 0) > MAX_MESSAGE_BYTES) {
    faults.add('', TOO_LARGE)
    return undefined
  }
  const files = isAbsent(attachments) ? undefined : attachments
  if (files !== undefined && !Array.isArray(files)) faults.add('attachments', 'must be a list')
  const list = Array.isArray(files) ? writeAttachments(faults, files) : undefined
  const isTooLarge = list !== undefined && list.bytes > MAX_MESSAGE_BYTES
  const { json, bytes } = writeMessage(wire, isTooLarge ? undefined : list, write)
  if (isTooLarge || bytes > MAX_MESSAGE_BYTES) faults.add('', TOO_LARGE)
  return { json, bytes, to: To ?? '', recipients, toCount }
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0)
}

function orElse(value: unknown, otherwise: unknown): unknown {
  return isAbsent(value) ? otherwise : value
}

/** @returns the header; `undefined` if there is no address */
function readAddresses(
  faults: Faults,
  path: string,
  value: unknown,
  recipients: string[],
): string | undefined {
  if (isAbsent(value)) return undefined
  if (!Array.isArray(value)) return readAddress(faults, path, value, recipients)
  if (value.length > MAX_RECIPIENTS) {
    faults.add(path, tooMany(value.length))
    return ''
  }
  let header: string | undefined
  for (let index = 0; index < value.length; index += 1) {
    const address = readAddress(faults, `${path}[${index}]`, value[index], recipients)
    header = header === undefined ? address : `${header}, ${address}`
  }
  return header
}

function readAddress(faults: Faults, path: string, value: unknown, recipients: string[]): string {
  const parsed = parseAddress(value)
  if (typeof parsed === 'string') {
    faults.add(path, parsed)
    return ''
  }
  recipients.push(parsed.address)
  return formatAddress(parsed)
}

function tooMany(count: number): string {
  return `may have ${MAX_RECIPIENTS} recipients together with cc and bcc, but has ${count}`
}

/** Most messages of a batch have the same sender. */
let lastSender = { given: '', header: '' }

function readSender(faults: Faults, value: unknown): string | undefined {
  if (isAbsent(value)) {
    faults.add('from', 'is required, because no fromEmail is configured')
    return undefined
  }
  if (value === lastSender.given) return lastSender.header
  const header = readAddress(faults, 'from', value, [])
  if (typeof value === 'string' && header !== '') lastSender = { given: value, header }
  return header
}

function readBody(faults: Faults, path: string, value: unknown): string | undefined {
  if (isAbsent(value)) return undefined
  if (typeof value === 'string') return value
  faults.add(path, 'must be text')
  return undefined
}

function readChoice<Choice>(
  faults: Faults,
  path: string,
  value: unknown,
  choices: readonly Choice[],
): Choice | undefined {
  if (isAbsent(value)) return undefined
  const choice = choices.find((each) => each === value)
  if (choice === undefined) faults.add(path, `must be ${choices.join(' or ')}`)
  return choice
}

const fieldNames: readonly (keyof PlainMessage)[] = [
  ...([
    'to',
    'from',
    'cc',
    'bcc',
    'replyTo',
    'subject',
    'tag',
    'messageStream',
    'htmlBody',
    'textBody',
  ] as const),
  ...(['body', 'headers', 'metadata', 'attachments', 'trackOpens', 'trackLinks', 'key'] as const),
]

/** Finds fields that no message has. A class may have fields of its own. */
function findUnknown(faults: Faults, message: Unchecked): void {
  const prototype: unknown = Object.getPrototypeOf(message)
  if (prototype !== Object.prototype && prototype !== null) return
  for (const [name, value] of Object.entries(message)) {
    if (fieldNames.some((known) => known === name) || (value ?? undefined) === undefined) continue
    const nearest = nearestField(name)
    faults.add(
      isName(name) ? name : '',
      `is no field of a message${nearest ? `: the nearest is ${nearest}` : ''}`,
    )
  }
}

/** The field that begins like the name, or that contains it. */
function nearestField(name: string): string | undefined {
  const given = name.toLowerCase().replaceAll(/[^a-z]/g, '')
  const shared = (field: string) => {
    const known = field.toLowerCase()
    if (given.length > 2 && known.includes(given)) return given.length
    let length = 0
    while (length < known.length && known[length] === given[length]) length += 1
    return length
  }
  const [nearest = 'to'] = [...fieldNames].sort((a, b) => shared(b) - shared(a))
  return shared(nearest) > 1 ? nearest : undefined
}

/** The first field that throws when it is read; empty if no field can be read. */
function findUnreadable(message: unknown): string {
  if (!isRecord(message)) return ''
  let path = ''
  try {
    for (path of Object.keys(message)) read(Reflect.get(message, path))
    return ''
  } catch {
    return path
  }
}

function read(value: unknown): void {
  if (isRecord(value) && !ArrayBuffer.isView(value)) Object.values(value).forEach(read)
}
