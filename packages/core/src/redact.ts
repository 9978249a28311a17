/**
 * Removes secrets by value, so that it does not matter on which way one got into a text.
 *
 * @module
 */
import { maskAddresses } from './provider-error.ts'

const MASK = '[redacted]'
/** Shorter values are words that occur by chance; no provider issues a key that short. */
const SHORTEST_SECRET = 6
/** What is longer is no key any more, and its encodings would cost more than they hide. */
const LONGEST_ENCODED = 10_000

/** Knows secrets, and removes them from anything that leaves by a way they should not take. */
export interface Redactor {
  /** Makes a value known as secret. */
  add(value: unknown): void
  text(text: string): string
  /** A copy of plain data without secrets. */
  data<T>(data: T): T
}

/**
 * @param secrets known from the start, for example from the configuration
 */
export function createRedactor(secrets: Iterable<string> = []): Redactor {
  const known = new Set<string>()
  let sorted: string[] | undefined
  const redactor: Redactor = {
    add(value) {
      if (typeof value !== 'string' || value.length < SHORTEST_SECRET) return
      for (const form of formsOf(value)) known.add(form)
      sorted = undefined
    },
    text(text) {
      // Otherwise the end of a long secret would stay where its beginning is a secret too.
      sorted ??= [...known].sort((a, b) => b.length - a.length)
      let clean = text
      for (const form of sorted) if (form.length <= clean.length) clean = clean.replaceAll(form, MASK)
      return clean
    },
    data(data) {
      return known.size === 0 ? data : mapTexts(data, redactor.text)
    },
  }
  for (const value of secrets) redactor.add(value)
  return redactor
}

/** What a log may hold: no secret, and no mail address either. */
export function forLogs(redactor: Redactor): Pick<Redactor, 'text' | 'data'> {
  const text = (dirty: string) => maskAddresses(redactor.text(dirty))
  return { text, data: (data) => mapTexts(data, text) }
}

/** A copy of plain data, with each of its texts and names replaced. */
function mapTexts<T>(data: T, replace: (text: string) => string): T {
  if (data === undefined) return data
  const withNewNames = (record: Record<string, unknown>) =>
    Object.fromEntries(Object.entries(record).map(([name, value]) => [replace(name), value]))
  // Text by text and not as a whole: a secret may look like a number, or like the punctuation of JSON.
  return JSON.parse(JSON.stringify(data), (_, value: unknown) => {
    if (typeof value === 'string') return replace(value)
    return isRecord(value) ? withNewNames(value) : value
  })
}

/** A secret in every spelling in which it may turn up: as it is, in JSON, in URLs and forms, and in base64. */
function* formsOf(secret: string): Generator<string> {
  yield secret
  const escaped = JSON.stringify(secret).slice(1, -1)
  yield escaped
  if (secret.length > LONGEST_ENCODED) return
  // JSON within JSON, as a log line quotes it.
  yield JSON.stringify(escaped).slice(1, -1)
  // Half a character can't be encoded, and so can't be on its way in a URL either.
  if (secret.isWellFormed()) yield encodeURIComponent(secret)
  yield new URLSearchParams([['', secret]]).toString().slice(1)
  const bytes = String.fromCharCode(...new TextEncoder().encode(secret))
  yield* bothAlphabets(btoa(bytes))
  // Where it is a part of what is encoded, as in “user:secret”, the characters that are its alone.
  for (const before of [0, 1, 2]) {
    const text = btoa('\0'.repeat(before) + bytes)
    yield* bothAlphabets(
      text.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6)),
    )
  }
}

function bothAlphabets(base64: string): string[] {
  return [base64, base64.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')]
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
