/**
 * Writes a message as JSON in pieces. A long body becomes bytes of its own, which the messages of a batch share.
 *
 * @module
 */
import { appendAttachments, type Draft, type Parts } from './attachment.ts'
import type { Faults } from './faults.ts'
import { printOfWords } from './fingerprint.ts'
import type { WireMessage } from './wire.ts'

/** The longest message, including its attachments. */
export const MAX_MESSAGE_BYTES = 10 * 1024 * 1024
/** Below this, 500 messages always fit into one call. */
const SMALL_MESSAGE_LENGTH = 30_000
const MAX_BYTES_PER_CHARACTER = 3
/** Long texts that are kept: the bodies of a message. */
const MAX_KEPT = 2
/** Characters that are written at a time: escapes make a text six times as long. */
const PIECE = 64 * 1024
const QUOTE = 0x22
const encoder = new TextEncoder()

/** The fields of a message in the order in which they are written, each with what comes before its value. */
const fields = [
  ['From', '{"From":'],
  ['To', ',"To":'],
  ['Cc', ',"Cc":'],
  ['Bcc', ',"Bcc":'],
  ['ReplyTo', ',"ReplyTo":'],
  ['Subject', ',"Subject":'],
  ['Tag', ',"Tag":'],
  ['MessageStream', ',"MessageStream":'],
  ['Headers', ',"Headers":'],
  ['Metadata', ',"Metadata":'],
  ['TrackOpens', ',"TrackOpens":'],
  ['TrackLinks', ',"TrackLinks":'],
  ['HtmlBody', ',"HtmlBody":'],
  ['TextBody', ',"TextBody":'],
] as const

/** Makes the JSON of fields, and of long texts. */
export interface Writer {
  /** Writes a field with what comes before its value. `at`: its place among the fields. */
  field(at: number, before: string, value: unknown): string
  /** Writes a long text, as far as a message can be sent with it. */
  text(text: string): Uint8Array
}

/** Writes everything anew. */
export const plainWriter: Writer = {
  field: (_, before, value) => before + JSON.stringify(value),
  text: encodeText,
}

function encodeText(text: string): Uint8Array {
  let json = new Uint8Array(text.length + PIECE)
  json[0] = QUOTE
  let size = 1
  for (let at = 0; at < text.length && size <= MAX_MESSAGE_BYTES; at += PIECE) {
    // A pair of surrogates at its edge becomes two escapes, which JSON reads as the same pair.
    const escaped = JSON.stringify(text.slice(at, at + PIECE))
    if (json.length - size < MAX_BYTES_PER_CHARACTER * escaped.length) {
      const longer = new Uint8Array(2 * json.length + MAX_BYTES_PER_CHARACTER * escaped.length)
      longer.set(json.subarray(0, size))
      json = longer
    }
    // Without its quotes.
    size += encoder.encodeInto(escaped.slice(1, -1), json.subarray(size)).written
  }
  json[size] = QUOTE
  return json.subarray(0, size + 1)
}

/**
 * Keeps the fields and the long texts of a batch, so that what goes to many recipients is written, read and held
 * once. It keeps those of the last messages alone.
 */
export function createBatchWriter() {
  const last: { value: unknown; json: string }[] = fields.map(() => ({ value: undefined, json: '' }))
  const kept = new Map<string, Uint8Array>()
  const prints = new WeakMap<Uint8Array, string>()
  return {
    field(at: number, before: string, value: unknown): string {
      const known = last[at]
      if (known && known.value === value && typeof value !== 'object') return known.json
      const json = plainWriter.field(at, before, value)
      last[at] = { value, json }
      return json
    },
    text(text: string): Uint8Array {
      const known = kept.get(text)
      if (known) return known
      const json = encodeText(text)
      if (kept.size >= MAX_KEPT) kept.clear()
      kept.set(text, json)
      prints.set(json, printOfWords(json))
      return json
    },
    /** The fingerprint of what `text` has made. */
    printOf: (json: Uint8Array) => prints.get(json),
  }
}

/** Writes a message whose fields are checked. Its attachments are checked on the way. */
export function writeMessage(
  message: { [Name in keyof WireMessage]: WireMessage[Name] | undefined },
  attachments: readonly unknown[] | undefined,
  { faults, writer }: { faults: Faults; writer: Writer },
): { parts: Parts; bytes: number } {
  const texts: string[] = []
  const longBodies: [before: string, body: Uint8Array][] = []
  let length = 1
  for (let at = 0; at < fields.length; at += 1) {
    const [name, before] = fields[at] ?? fields[0]
    const value = message[name]
    if (value === undefined) continue
    if (isLong(value) && (name === 'HtmlBody' || name === 'TextBody')) {
      longBodies.push([before, writer.text(value)])
      continue
    }
    const text = writer.field(at, before, value)
    texts.push(text)
    length += text.length
  }
  // Encoding a small message only to measure it takes as long as all other work on it.
  if (longBodies.length === 0 && !attachments && length <= SMALL_MESSAGE_LENGTH) {
    texts.push('}')
    return { parts: texts, bytes: length * MAX_BYTES_PER_CHARACTER }
  }

  const start = texts.join('')
  const draft: Draft = { parts: [], text: start, skeleton: start, base64Bytes: 0 }
  let bodyBytes = 0
  for (const [before, body] of longBodies) {
    draft.parts.push(draft.text + before, body)
    draft.text = ''
    draft.skeleton += before
    bodyBytes += body.byteLength
  }
  if (attachments) {
    draft.text += ',"Attachments":'
    draft.skeleton += ',"Attachments":'
    appendAttachments(faults, draft, { attachments, maxBytes: MAX_MESSAGE_BYTES })
  }
  const bytes = encoder.encode(draft.skeleton).byteLength + 1 + bodyBytes + draft.base64Bytes
  const end = `${draft.text}}`
  // Bytes take half of the memory, and are made only once.
  return { parts: [...draft.parts, end.length > SMALL_MESSAGE_LENGTH ? encoder.encode(end) : end], bytes }
}

function isLong(value: unknown): value is string {
  return typeof value === 'string' && value.length > SMALL_MESSAGE_LENGTH
}
