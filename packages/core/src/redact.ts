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
  /** One that knows these secrets, now and later, and others of its own. */
  extend(): Redactor
}

/**
 * @param secrets known from the start, for example from the configuration
 */
export function createRedactor(secrets: Iterable<string> = []): Redactor {
  return redactorOf([new Set([...secrets].flatMap((secret) => spellingsOf(secret)))])
}

/** A redactor for the secrets of several sets, which only grow; its own is the last. */
function redactorOf(sets: readonly Set<string>[]): Redactor {
  let sorted: string[] = []
  // Longest first: otherwise the end of a long secret would stay where its beginning is a secret too.
  const known = () => {
    const count = sets.reduce((sum, { size }) => sum + size, 0)
    if (count !== sorted.length) sorted = sets.flatMap((set) => [...set]).sort((a, b) => b.length - a.length)
    return sorted
  }
  const text = (dirty: string) =>
    known().reduce(
      (clean, form) => (form.length > clean.length ? clean : clean.replaceAll(form, MASK)),
      dirty,
    )

  return {
    add(value) {
      for (const form of spellingsOf(value)) sets.at(-1)?.add(form)
    },
    text,
    data: (data) => (known().length === 0 ? data : mapTexts(data, text)),
    extend: () => redactorOf([...sets, new Set()]),
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
