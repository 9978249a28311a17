/**
 * Checks a message, and puts it into the provider’s format. A message that the provider would refuse, or that
 * could inject a header, is not sent.
 *
 * @module
 */
import { formatAddress, parseAddress } from './address.ts'
import { capitalized, isRecord, readField } from './fields.ts'
import { isName, readHeaders, readLine, readMetadata } from './headers.ts'
import { Faults, invalidMessage } from './mail-error.ts'
import type { MessageBodies, MessageFields, MessageSettings } from './message.ts'

/** A message that is ready to be sent. */
export interface ComposedMessage {
  json: string
  /** The size of `json` in UTF-8, or an upper bound. */
  bytes: number
  /** The To header. */
  to: string
  /** The bare addresses of to, cc and bcc, in this order. */
  recipients: string[]
}

/** Checks files, and puts them into the provider’s format: `size` is less than their length. */
export type FileReader = (
  faults: Faults,
  attachments: unknown,
) => { files: object[]; size: number } | undefined

/** The state of one composition. */
interface Draft {
  faults: Faults
  settings: MessageSettings
  recipients: string[]
}

/** Checks a value that is not absent, and returns it in the provider’s form; `undefined` if it has a fault. */
type Reader = (value: unknown, path: string, draft: Draft) => unknown

const line: Reader = (value, path, { faults }) => readLine(faults, path, value)
const addresses: Reader = (value, path, { faults }) => readAddresses(faults, path, value, [])
const recipients: Reader = (value, path, draft) => readAddresses(draft.faults, path, value, draft.recipients)

function oneOf(...choices: readonly unknown[]): Reader {
  return (value, path, { faults }) => {
    if (choices.includes(value)) return value
    faults.add(path, `must be ${choices.join(' or ')}`)
    return undefined
  }
}

type Body = keyof MessageBodies
type Head = Exclude<keyof MessageFields, 'attachments' | 'key'>

/** The fields of a message’s head. On the wire, each name begins with a capital letter. */
export const head: Record<Head, Reader> = {
  to: recipients,
  cc: recipients,
  bcc: recipients,
  from: (value, path, { faults }) => readAddress(faults, path, value, []),
  replyTo: addresses,
  subject: line,
  tag: line,
  messageStream: line,
  headers: (value, _, { faults, settings }) => readHeaders(faults, value, settings.headers),
  metadata: (value, _, { faults, settings }) => readMetadata(faults, value, settings.metadata),
  trackOpens: oneOf(true, false),
  trackLinks: oneOf('None', 'HtmlAndText', 'HtmlOnly', 'TextOnly'),
}
const headFields = Object.entries(head).map(([name, read]) => ({ name, read, onWire: capitalized(name) }))
/** The fields of a message’s bodies. */
export const bodyNames: readonly Body[] = ['htmlBody', 'textBody', 'body']
/** All fields of a message. */
export const fieldNames: readonly string[] = [...Object.keys(head), ...bodyNames, 'attachments', 'key']

const MISSING: Partial<Record<string, string>> = {
  to: 'needs at least one recipient',
  from: 'is required, because no fromEmail is configured',
  subject: 'is required',
}
/** The longest message, including its attachments. */
export const MAX_MESSAGE_BYTES = 10 * 1024 * 1024
const MAX_RECIPIENTS = 50
const LONGEST_KEY = 255
const SMALL_LENGTH = 30_000
const MAX_BYTES_PER_CHARACTER = 3

/**
 * Checks a message, and puts it into the provider’s format.
 *
 * @param settings the values of fields that the message lacks
 * @param readFiles for a message with files
 * @throws {MailError} `invalid_arguments`, with the path of each fault, but no address and no text
 */
export function composeMessage(
  message: unknown,
  settings: MessageSettings,
  readFiles?: FileReader,
): ComposedMessage {
  const faults = new Faults()
  const draft: Draft = { faults, settings, recipients: [] }
  let composed: ComposedMessage | undefined
  try {
    if (isRecord(message)) composed = compose(message, draft, readFiles)
    else faults.add('', 'it is no message: expected an object')
  } catch (cause) {
    throw invalidMessage([{ path: '', message: 'it can’t be read' }], cause)
  }
  if (composed && faults.list.length === 0) return composed
  throw invalidMessage(faults.list)
}

function compose(
  message: Record<string, unknown>,
  draft: Draft,
  readFiles: FileReader | undefined,
): ComposedMessage | undefined {
  const { faults, settings } = draft
  findUnknown(faults, message)
  const wire: Record<string, unknown> = {}
  for (const { name, read, onWire } of headFields) {
    const given = message[name]
    const value = isAbsent(given) ? readField(settings, name) : given
    if (!isAbsent(value)) wire[onWire] = read(value, name, draft)
    else if (MISSING[name]) faults.add(name, MISSING[name])
  }
  if (draft.recipients.length > MAX_RECIPIENTS) faults.add('to', tooMany(draft.recipients.length))
  const [html, text, alias] = bodyNames.map((name) => readBody(faults, name, message[name]))
  if (html !== undefined && alias !== undefined)
    faults.add('body', 'is an alias of htmlBody: set one of them')
  if (bodyNames.every((name) => isAbsent(message[name]))) faults.add('htmlBody', 'is required, or textBody')
  const { key } = message
  const isKey = Number.isFinite(key) || (typeof key === 'string' && key.length <= LONGEST_KEY)
  if (!isAbsent(key) && !isKey)
    faults.add('key', `must be a number, or a text of at most ${LONGEST_KEY} characters`)

  const { attachments } = message
  const { files, size = 0 } = (!isAbsent(attachments) && readFiles?.(faults, attachments)) || {}
  const HtmlBody = html ?? alias
  let bytes = size + (HtmlBody?.length ?? 0) + (text?.length ?? 0)
  let json = ''
  // A message of which a part alone is too large is not written.
  if (bytes <= MAX_MESSAGE_BYTES) {
    json = JSON.stringify({ ...wire, HtmlBody, TextBody: text, Attachments: files })
    bytes = sizeOf(json)
  }
  if (bytes > MAX_MESSAGE_BYTES) faults.add('', 'it is larger than 10 MB, including its attachments')
  return { json, bytes, to: String(wire.To ?? ''), recipients: draft.recipients }
}

/** Encoding a small message only to measure it takes as long as all other work on it. */
function sizeOf(json: string): number {
  return json.length <= SMALL_LENGTH
    ? json.length * MAX_BYTES_PER_CHARACTER
    : new TextEncoder().encode(json).length
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0)
}

/** @returns the header */
function readAddresses(faults: Faults, path: string, value: unknown, bare: string[]): string {
  if (!Array.isArray(value)) return readAddress(faults, path, value, bare)
  if (value.length > MAX_RECIPIENTS) {
    faults.add(path, tooMany(value.length))
    return ''
  }
  return value.map((each, index) => readAddress(faults, `${path}[${index}]`, each, bare)).join(', ')
}

function readAddress(faults: Faults, path: string, value: unknown, bare: string[]): string {
  const parsed = parseAddress(value)
  if (typeof parsed === 'string') {
    faults.add(path, parsed)
    return ''
  }
  bare.push(parsed.address)
  return formatAddress(parsed)
}

function tooMany(count: number): string {
  return `may have ${MAX_RECIPIENTS} recipients together with cc and bcc, but has ${count}`
}

function readBody(faults: Faults, name: Body, body: unknown): string | undefined {
  if (isAbsent(body)) return undefined
  if (typeof body === 'string') return body
  faults.add(name, 'must be text')
  return undefined
}

/** Whether every field of a message is meant for the mailer: a class may have fields of its own. */
export function isPlain(message: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(message)
  return prototype === Object.prototype || prototype === null
}

/**
 * Finds fields that a value does not have.
 *
 * @param owner whose fields, in words: `a message`
 * @param base the path of the value, with a full stop
 */
export function findUnknown(
  faults: Faults,
  value: Record<string, unknown>,
  known = fieldNames,
  owner = 'a message',
  base = '',
): void {
  if (!isPlain(value)) return
  for (const name of Object.keys(value)) {
    if (known.includes(name) || (value[name] ?? undefined) === undefined) continue
    const nearest = nearestField(name, known)
    const hint = nearest ? `: the nearest is ${nearest}` : ''
    faults.add(isName(name) ? base + name : base, `is no field of ${owner}${hint}`)
  }
}

/** The field with the same letters, or that begins like the name, or that contains it. */
function nearestField(name: string, known: readonly string[]): string | undefined {
  const given = name.toLowerCase().replaceAll(/[^a-z]/g, '')
  const isLike = (name: string) =>
    given.length > 2 && (name.startsWith(given.slice(0, 3)) || name.includes(given))
  return (
    known.find((field) => field.toLowerCase() === given) ?? known.find((field) => isLike(field.toLowerCase()))
  )
}

/** Whether a message has files, or bodies that must be rendered: most messages have neither. */
export function isRich(message: unknown): message is Record<string, unknown> {
  const isPending = (value: unknown) =>
    typeof value === 'function' || (isRecord(value) && typeof value.then === 'function')
  try {
    if (!isRecord(message)) return false
    return !isAbsent(message.attachments) || bodyNames.some((name) => isPending(message[name]))
  } catch {
    // `composeMessage` names the fault.
    return false
  }
}
