import { toBase64 } from './base64.ts'

/** Longer values are no keys, and their encodings would cost too much. */
const MAX_ENCODED_LENGTH = 10_000

/** In lower case, with the same length: İ alone would become two units. */
export function fold(text: string): string {
  return text.replaceAll('İ', 'i').toLowerCase()
}

/** The spellings of a secret in lower case: as it is, in JSON, in URLs and forms, in hexadecimal and in base64. */
export function spellingsOf(secret: string): Set<string> {
  const json = JSON.stringify(secret).slice(1, -1)
  const all = [secret, json, json.replaceAll('/', '\\/')]
  if (secret.length <= MAX_ENCODED_LENGTH) {
    const bytes = new TextEncoder().encode(secret)
    const ascii = json.replaceAll(/[^ -~]/g, unicodeEscape)
    const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0'))
    // Half a surrogate pair has no percent escape.
    const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
    all.push(ascii, ascii.replaceAll('/', '\\/'), secret.replaceAll(/[\s\S]/g, unicodeEscape))
    all.push(encodeURI(text), encodeURIComponent(text), String(new URLSearchParams({ '': text })).slice(1))
    all.push(hex.join(''), `%${hex.join('%')}`, ...inBase64(bytes))
  }
  return new Set(all.map(fold))
}

const unicodeEscape = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`

/** In both alphabets, and within a longer text, as in “user:secret”: what encodes the secret alone, at each offset. */
function inBase64(bytes: Uint8Array): string[] {
  const within = [0, 1, 2].map((before) => {
    const padded = new Uint8Array(before + bytes.length)
    padded.set(bytes, before)
    return toBase64(padded).slice(Math.ceil((before * 8) / 6), Math.floor((padded.length * 8) / 6))
  })
  return [toBase64(bytes), ...within].flatMap((base64) => [
    base64,
    base64.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', ''),
  ])
}
