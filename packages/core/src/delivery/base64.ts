// `btoa` needs a text of the bytes first, which takes ten times as long. A record may have ten megabytes.

import { timeSliced } from '../slices.ts'

const ALPHABET = new TextEncoder().encode('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/')
const PADDING = 0x3d
/** Groups of three bytes, or four digits, between two looks at the clock. */
const GROUPS = 32 * 1024

/** Encodes bytes in base64. */
export async function toBase64(bytes: Uint8Array): Promise<string> {
  const yieldToLoop = timeSliced()
  const digits = new Uint8Array(Math.ceil(bytes.length / 3) * 4)
  for (let start = 0; start < bytes.length; start += 3 * GROUPS) {
    await yieldToLoop()
    const end = Math.min(bytes.length, start + 3 * GROUPS)
    for (let from = start, to = (start / 3) * 4; from < end; from += 3, to += 4) {
      const three = ((bytes[from] ?? 0) << 16) | ((bytes[from + 1] ?? 0) << 8) | (bytes[from + 2] ?? 0)
      digits[to] = ALPHABET[three >> 18] ?? 0
      digits[to + 1] = ALPHABET[(three >> 12) & 63] ?? 0
      digits[to + 2] = ALPHABET[(three >> 6) & 63] ?? 0
      digits[to + 3] = ALPHABET[three & 63] ?? 0
    }
  }
  const padding = (3 - (bytes.length % 3)) % 3
  digits.fill(PADDING, digits.length - padding)
  return new TextDecoder().decode(digits)
}

/**
 * Decodes base64.
 *
 * @throws {DOMException} if the text is not base64
 */
export async function fromBase64(text: string): Promise<Uint8Array<ArrayBuffer>> {
  const yieldToLoop = timeSliced()
  const bytes = new Uint8Array(Math.ceil(text.length / 4) * 3)
  let to = 0
  for (let start = 0; start < text.length; start += 4 * GROUPS) {
    await yieldToLoop()
    const binary = atob(text.slice(start, start + 4 * GROUPS))
    for (let at = 0; at < binary.length; at += 1, to += 1) bytes[to] = binary.charCodeAt(at)
  }
  return bytes.subarray(0, to)
}
