/**
 * Removes secrets by value, so that it does not matter on which way one got into a text.
 *
 * @module
 */
import { maskAddresses } from './mask.ts'

const NONE: readonly string[] = []
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
  /** One that knows these secrets, now and later, and others of its own. */
  extend(): Redactor
}

/**
 * @param secrets known from the start, for example from the configuration
 */
export function createRedactor(secrets: Iterable<string> = []): Redactor {
  return redactorOf(() => NONE, new Set([...secrets].flatMap((secret) => spellingsOf(secret))))
}

/** A redactor for the secrets of another one, and for its own, which only grow. */
function redactorOf(inherited: () => readonly string[], own: Set<string>): Redactor {
  let above = NONE
  let sorted = NONE
  let size = 0
  // Longest first: otherwise the end of a long secret would stay where its beginning is a secret too.
  const known = () => {
    const now = inherited()
    // Most events bring no secret, and so need no list of their own.
    if (own.size === 0) return now
    if (now !== above || own.size !== size) {
      sorted = [...now, ...own].sort((a, b) => b.length - a.length)
      above = now
      size = own.size
    }
    return sorted
  }
  const text = (dirty: string) => {
    let clean = dirty
    for (const form of known()) if (form.length <= clean.length) clean = clean.replaceAll(form, MASK)
    return clean
  }

  return {
    add(value) {
      for (const form of spellingsOf(value)) own.add(form)
    },
    text,
    data: (data) => (known().length === 0 ? data : mapTexts(data, text)),
    extend: () => redactorOf(known, new Set()),
  }
}

function spellingsOf(value: unknown): string[] {
  if (typeof value !== 'string' || value.trim().length < SHORTEST_SECRET) return []
  // Schemas trim what people paste.
  return [...new Set([value, value.trim()])].flatMap((spelling) => [...formsOf(spelling)])
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
