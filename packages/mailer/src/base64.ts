/**
 * Base64 as ASCII bytes: a file of megabytes becomes a piece of the body without a string in between.
 *
 * @module
 */

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const PADDING = 61

/** Two characters for each value of 12 bits. */
let pairs: Uint16Array | undefined

/** Encodes bytes. */
export function encodeBase64(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  pairs ??= makePairs()
  const encoded = new Uint8Array(4 * Math.ceil(bytes.length / 3))
  const output = new Uint16Array(encoded.buffer)
  const whole = bytes.length - (bytes.length % 3)
  let at = 0
  for (let from = 0; from < whole; from += 3) {
    const bits = ((bytes[from] ?? 0) << 16) | ((bytes[from + 1] ?? 0) << 8) | (bytes[from + 2] ?? 0)
    output[at] = pairs[bits >> 12] ?? 0
    output[at + 1] = pairs[bits & 4095] ?? 0
    at += 2
  }
  if (whole < bytes.length) {
    const bits = ((bytes[whole] ?? 0) << 16) | ((bytes[whole + 1] ?? 0) << 8)
    output[at] = pairs[bits >> 12] ?? 0
    output[at + 1] = pairs[bits & 4095] ?? 0
    encoded.fill(PADDING, encoded.length - (3 - (bytes.length - whole)))
  }
  return encoded
}

/** Whether a text is base64 with padding and without line breaks. */
export function isBase64(text: string): boolean {
  // Ten times as fast as the exact class of characters, which has no `_`.
  return text.length % 4 === 0 && /^[\w+/]*={0,2}$/.test(text) && !text.includes('_')
}

/** A number that changes with the bytes: with every change of a single word, and by chance once in 4 billion. */
export function fingerprint(bytes: Uint8Array): number {
  const { buffer, byteOffset, length } = bytes
  const isAligned = byteOffset % 4 === 0
  const words = isAligned ? new Uint32Array(buffer, byteOffset, length >>> 2) : bytes
  let hash = length
  for (let at = 0; at < words.length; at += 1) hash = mix(hash, words[at] ?? 0)
  for (let at = isAligned ? length & ~3 : length; at < length; at += 1) hash = mix(hash, bytes[at] ?? 0)
  return hash
}

function mix(hash: number, word: number): number {
  return Math.imul(((hash << 5) | (hash >>> 27)) ^ word, 0x9e3779b1)
}

/** Written as bytes and read as words, so that the order of bytes is the machine’s. */
function makePairs(): Uint16Array {
  const characters = Uint8Array.from({ length: 8192 }, (_, at) =>
    ALPHABET.charCodeAt(at % 2 === 0 ? at >> 7 : (at >> 1) & 63),
  )
  return new Uint16Array(characters.buffer)
}
