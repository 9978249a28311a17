/**
 * Checks a message, and puts it into the provider’s format. A message that the provider would refuse, or that
 * could inject a header, is not sent.
 *
 * @module
 */
import { formatAddress, parseAddress } from './address.ts'
import { isRecord, readField } from './fields.ts'
import { isName, readHeaders, readLine, readMetadata } from './headers.ts'
import { Faults, invalidMessage } from './mail-error.ts'
import { type MessageBodies, type MessageFields, type MessageSettings, NO_BODY } from './message.ts'
import { MAX_MESSAGE_BYTES, type TextWriter, type Written, writeText } from './writing.ts'

/** A message that is ready to be sent. */
export interface ComposedMessage extends Written {
  /** The To header. */
  to: string
  /** The bare addresses of to, cc and bcc, in this order. */
  recipients: string[]
}

/** Writes the bodies and files of a message. */
export interface Writers {
  /** That of a batch writes a body that many messages share once. */
  writeBody: TextWriter
  writeFiles?: (faults: Faults, attachments: unknown) => Written | undefined
}

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
const head: Record<Head, Reader> = {
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
const MAX_RECIPIENTS = 50
const LONGEST_KEY = 255
const TOO_LARGE = 'it is larger than 10 MB, including its attachments'

/**
 * Checks a message, and puts it into the provider’s format.
 *
 * @param settings the values of fields that the message lacks
 * @param writers for a rich message, with `writeFiles`
 * @throws {MailError} `invalid_arguments`, with the path of each fault, but no address and no text
 */
export function composeMessage(
  message: unknown,
  settings: MessageSettings,
  writers: Writers = { writeBody: writeText },
): ComposedMessage {
  const draft: Draft = { faults: new Faults(), settings, recipients: [] }
  let composed: ComposedMessage | undefined
  if (isRecord(message)) composed = compose(message, draft, writers)
  else draft.faults.add('', 'it is no message: expected an object')
  if (composed && draft.faults.count === 0) return composed
  throw invalidMessage(draft.faults.reported, draft.faults)
}

function compose(
  message: Record<string, unknown>,
  draft: Draft,
  { writeBody, writeFiles }: Writers,
): ComposedMessage | undefined {
  const { faults, settings } = draft
  readable('', () => findUnknown(faults, message))
  const wire: Record<string, unknown> = {}
  for (const { name, read, onWire } of headFields) {
    wire[onWire] = readable(name, () => {
      const given = message[name]
      const value = isAbsent(given) ? readField(settings, name) : given
      if (!isAbsent(value)) return read(value, name, draft)
      if (MISSING[name]) faults.add(name, MISSING[name])
      return undefined
    })
  }
  if (draft.recipients.length > MAX_RECIPIENTS) faults.add('to', tooMany(draft.recipients.length))
  const given = bodyNames.map((name) => readable(name, () => message[name]))
  const [html, text, alias] = bodyNames.map((name, at) => readBody(faults, name, given[at]))
  if (html !== undefined && alias !== undefined)
    faults.add('body', 'is an alias of htmlBody: set only one of them')
  if (given.every(isAbsent)) faults.add(NO_BODY.path, NO_BODY.message)
  const key = readable('key', () => message.key)
  if (!isAbsent(key) && (!/string|number/.test(typeof key) || String(key).length > LONGEST_KEY))
    faults.add('key', `must be a number, or a text of at most ${LONGEST_KEY} characters`)

  const bodies = { HtmlBody: html ?? alias, TextBody: text }
  const length = (bodies.HtmlBody?.length ?? 0) + (text?.length ?? 0)
  const files = readable('attachments', () => {
    const { attachments } = message
    return isAbsent(attachments) ? undefined : writeFiles?.(faults, attachments)
  })
  if (length + (files?.bytes ?? 0) > MAX_MESSAGE_BYTES) {
    faults.add('', TOO_LARGE)
    return undefined
  }
  const written = join(wire, bodies, files, writeBody)
  if (written.bytes > MAX_MESSAGE_BYTES) faults.add('', TOO_LARGE)
  return { ...written, to: String(wire.To ?? ''), recipients: draft.recipients }
}

/** Joins the parts of a message to one JSON text. */
function join(
  wire: object,
  bodies: Record<string, string | undefined>,
  files: Written | undefined,
  write: TextWriter,
): Written {
  let { json, bytes } = writeText(wire)
  json = json.slice(0, -1)
  const add = (name: string, value: Written) => {
    const before = `,"${name}":`
    json += before + value.json
    bytes += before.length + value.bytes
  }
  for (const [name, body] of Object.entries(bodies)) if (body !== undefined) add(name, write(body))
  if (files) add('Attachments', files)
  json += '}'
  return bytes > MAX_MESSAGE_BYTES ? { json, bytes: new TextEncoder().encode(json).length } : { json, bytes }
}

/** Reads a part of a message whose getters may throw. */
export function readable<Value>(path: string, read: () => Value): Value {
  try {
    return read()
  } catch (cause) {
    throw invalidMessage([{ path, message: 'can’t be read' }], { cause })
  }
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

/** Finds fields that no message has. */
function findUnknown(faults: Faults, message: Record<string, unknown>): void {
  if (!isPlain(message)) return
  for (const name of Object.keys(message)) {
    if (fieldNames.includes(name) || (message[name] ?? undefined) === undefined) continue
    const nearest = nearestField(name)
    const hint = nearest ? `: the nearest is ${nearest}` : ''
    faults.add(isName(name) ? name : '', `is no field of a message${hint}`)
  }
}

/** The field that begins like the name, or that contains it. */
function nearestField(name: string): string | undefined {
  const given = name.toLowerCase().replaceAll(/[^a-z]/g, '')
  const begins = (length: number) => (field: string) => field.toLowerCase().startsWith(given.slice(0, length))
  const contains = (field: string) => given.length > 2 && field.toLowerCase().includes(given)
  for (let length = given.length; length > 1; length -= 1) {
    const nearest = fieldNames.find(begins(length)) ?? fieldNames.find(contains)
    if (nearest) return nearest
  }
  return undefined
}

function capitalized(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1)
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
