/**
 * Writes messages as JSON.
 *
 * @module
 */
import type { WireMessage } from './wire.ts'

/** The longest message, including its attachments. */
export const MAX_MESSAGE_BYTES = 10 * 1024 * 1024
/** Encoding a small message only to measure it takes as long as all other work on it. */
const SMALL_LENGTH = 30_000
const MAX_BYTES_PER_CHARACTER = 3
/** The bodies of a message. */
const MOST_KEPT = 2
const encoder = new TextEncoder()

/** A JSON text. */
export interface Written {
  json: string
  /** Its size in UTF-8, or an upper bound. */
  bytes: number
}

/** Writes a body. */
export type BodyWriter = (text: string) => Written

/** Writes a body anew. */
export const writeBody: BodyWriter = (text) => measured(JSON.stringify(text))

/** Makes the writer of a batch: a long body that goes to many recipients is written once, and held once. */
export function createBodyWriter(): BodyWriter {
  let kept: (Written & { text: string })[] = []
  return (text) => {
    if (text.length <= SMALL_LENGTH) return writeBody(text)
    const known = kept.find((body) => body.text === text)
    if (known) return known
    const written = { text, ...writeBody(text) }
    kept = [written, ...kept].slice(0, MOST_KEPT)
    return written
  }
}

/**
 * Writes a message whose fields are checked.
 *
 * @param attachments the list as JSON
 */
export function writeMessage(
  message: { [Name in keyof WireMessage]: WireMessage[Name] | undefined },
  attachments: Written | undefined,
  write: BodyWriter,
): Written {
  const { HtmlBody, TextBody, ...head } = message
  let { json, bytes } = measured(JSON.stringify(head).slice(0, -1))
  const add = (name: keyof WireMessage, value: Written) => {
    const before = `,"${name}":`
    json += before + value.json
    bytes += before.length + value.bytes
  }
  if (HtmlBody !== undefined) add('HtmlBody', write(HtmlBody))
  if (TextBody !== undefined) add('TextBody', write(TextBody))
  if (attachments) add('Attachments', attachments)
  json += '}'
  bytes += 1
  return bytes > MAX_MESSAGE_BYTES ? { json, bytes: encoder.encode(json).length } : { json, bytes }
}

function measured(json: string): Written {
  const isSmall = json.length <= SMALL_LENGTH
  return { json, bytes: isSmall ? json.length * MAX_BYTES_PER_CHARACTER : encoder.encode(json).length }
}
