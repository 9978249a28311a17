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
export type TextWriter = (text: string) => Written

/** Writes a value anew. */
export function writeText(value: unknown): Written {
  const json = JSON.stringify(value)
  const isSmall = json.length <= SMALL_LENGTH
  return { json, bytes: isSmall ? json.length * MAX_BYTES_PER_CHARACTER : encoder.encode(json).length }
}

/** Makes the writer of a batch: a long body that goes to many recipients is written once, and held once. */
export function createTextWriter(): TextWriter {
  let kept: (Written & { text: string })[] = []
  return (text) => {
    if (text.length <= SMALL_LENGTH) return writeText(text)
    const known = kept.find((body) => body.text === text)
    if (known) return known
    const written = { text, ...writeText(text) }
    kept = [written, ...kept].slice(0, MOST_KEPT)
    return written
  }
}
