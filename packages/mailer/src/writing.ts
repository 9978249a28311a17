/**
 * Writes a message as JSON in pieces. A long body becomes bytes of its own, which the messages of a batch share.
 *
 * @module
 */
import { appendAttachments, type Draft, type Parts } from './attachment.ts'
import type { Faults } from './faults.ts'
import { printOfWords } from './fingerprint.ts'
import type { WireMessage } from './wire.ts'

/** Of a message, including its attachments. */
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

/** Makes the JSON of a long text, as far as a message can be sent with it. */
export type EncodeText = (text: string) => Uint8Array

/** Makes the JSON of a text anew. */
export const encodeText: EncodeText = (text) => {
  let json = new Uint8Array(text.length + PIECE)
  json[0] = QUOTE
  let size = 1
  for (let at = 0; at < text.length && size <= MAX_MESSAGE_BYTES; ) {
    const isSplit = isHighSurrogate(text.charCodeAt(at + PIECE - 1))
    const piece = text.slice(at, isSplit ? at + PIECE - 1 : at + PIECE)
    at += piece.length
    const escaped = JSON.stringify(piece)
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

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff
}

/**
 * Keeps the long texts of a batch, so that a body that goes to many recipients is written, read and held once. It
 * keeps those of the last messages alone.
 */
export function createLongTexts() {
  const kept = new Map<string, Uint8Array>()
  const prints = new WeakMap<Uint8Array, string>()
  return {
    encode(text: string): Uint8Array {
      const known = kept.get(text)
      if (known) return known
      const json = encodeText(text)
      if (kept.size >= MAX_KEPT) kept.clear()
      kept.set(text, json)
      prints.set(json, printOfWords(json))
      return json
    },
    /** The fingerprint of what `encode` has made. */
    printOf: (json: Uint8Array) => prints.get(json),
  }
}

/** Writes a message whose fields are checked. Its attachments are checked on the way. */
export function writeMessage(
  { HtmlBody, TextBody, ...fields }: { [Name in keyof WireMessage]: WireMessage[Name] | undefined },
  attachments: readonly unknown[] | undefined,
  { faults, encode }: { faults: Faults; encode: EncodeText },
): { parts: Parts; bytes: number } {
  const [html, text] = [toPart(HtmlBody, encode), toPart(TextBody, encode)]
  const json = JSON.stringify({
    ...fields,
    ...(typeof html === 'string' && { HtmlBody: html }),
    ...(typeof text === 'string' && { TextBody: text }),
  })
  const isPlain = typeof html !== 'object' && typeof text !== 'object' && !attachments
  // Encoding a small message only to measure it takes as long as all other work on it.
  if (isPlain && json.length <= SMALL_MESSAGE_LENGTH)
    return { parts: [json], bytes: json.length * MAX_BYTES_PER_CHARACTER }

  const start = json.slice(0, -1)
  const draft: Draft = { parts: [], text: start, skeleton: start, base64Bytes: 0 }
  let bodyBytes = 0
  for (const [name, body] of [['HtmlBody', html] as const, ['TextBody', text] as const]) {
    if (typeof body !== 'object') continue
    const head = `,"${name}":`
    draft.parts.push(draft.text + head, body)
    draft.text = ''
    draft.skeleton += head
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

function toPart(text: string | undefined, encode: EncodeText): string | Uint8Array | undefined {
  return text !== undefined && text.length > SMALL_MESSAGE_LENGTH ? encode(text) : text
}
