import type { Logger } from './log.ts'
import { maskAddresses } from './mask.ts'

const NONE: readonly string[] = []
const MASK = '[redacted]'
/** Shorter values are common words; no provider issues a key that short. */
const MIN_LENGTH = 6
/** Longer values are no keys; their encodings would cost too much. */
const MAX_ENCODED_LENGTH = 10_000

/** Removes secrets from texts and data by their value, whichever way they got there. */
export interface Redactor {
  /** Adds a secret. Anything but a text of at least six characters is ignored. */
  add(value: unknown): void
  text(text: string): string
  /** Plain data without secrets: the data itself if it holds none, else a copy. */
  data<T>(data: T): T
  /** Makes a redactor that knows the secrets of this one, those added later too. */
  extend(): Redactor
}

/** Makes a redactor. `secrets` are known from the start, for example from the configuration. */
export function createRedactor(secrets: Iterable<string> = []): Redactor {
  const redactor = createChild(() => NONE)
  for (const secret of secrets) redactor.add(secret)
  return redactor
}

function createChild(inherited: () => readonly string[]): Redactor {
  const own = new Set<string>()
  let cached = { parent: NONE, size: 0, forms: NONE }

  // Longest first: otherwise the end of a long secret would stay if its beginning is a secret too.
  const known = () => {
    const parent = inherited()
    // Most events bring no secret, and need no list of their own.
    if (own.size === 0) return parent
    if (parent !== cached.parent || own.size !== cached.size) {
      const forms = [...parent, ...own].sort((a, b) => b.length - a.length)
      cached = { parent, size: own.size, forms }
    }
    return cached.forms
  }
  const text = (dirty: string) => known().reduce((clean, form) => clean.replaceAll(form, MASK), dirty)

  return {
    add(value) {
      if (typeof value !== 'string' || value.trim().length < MIN_LENGTH) return
      // Schemas trim what people paste.
      for (const spelling of [value, value.trim()]) for (const form of formsOf(spelling)) own.add(form)
    },
    text,
    data: (data) => (known().length === 0 ? data : mapTexts(data, text)),
    extend: () => createChild(known),
  }
}

/** A redactor for logs: it also masks mail addresses. */
export function forLogs(redactor: Redactor): Pick<Redactor, 'text' | 'data'> {
  const text = (dirty: string) => maskAddresses(redactor.text(dirty))
  return { text, data: (data) => mapTexts(data, text) }
}

/** A logger that redacts each line. Core's event lines are redacted already; every other line should go through one. */
export function redactLines(logger: Logger, redactor: Redactor): Logger {
  return (level, message, facts) => logger(level, redactor.text(message), redactor.data(facts))
}

/** Plain data with each text and each name replaced: the data itself if nothing changes, else a copy. */
function mapTexts<T>(data: T, replace: (text: string) => string): T {
  if (!changes(data, replace)) return data
  // Text by text and not as a whole: a secret may look like a number, or like the punctuation of JSON.
  return JSON.parse(JSON.stringify(data), (_, value: unknown) => {
    if (typeof value === 'string') return replace(value)
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [replace(name), member]))
  })
}

function changes(value: unknown, replace: (text: string) => string): boolean {
  if (typeof value === 'string') return replace(value) !== value
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return value.some((item) => changes(item, replace))
  return Object.entries(value).some(([name, member]) => replace(name) !== name || changes(member, replace))
}

/** A secret in each spelling: as it is, in JSON, in URLs and forms, and in base64. */
function* formsOf(secret: string): Generator<string> {
  yield secret
  const escaped = JSON.stringify(secret).slice(1, -1)
  yield escaped
  if (secret.length > MAX_ENCODED_LENGTH) return
  // JSON within JSON, as a log line quotes it.
  yield JSON.stringify(escaped).slice(1, -1)
  // A lone surrogate can't be encoded, so it is in no URL either.
  if (secret.isWellFormed()) yield encodeURIComponent(secret)
  yield new URLSearchParams([['', secret]]).toString().slice(1)
  const bytes = String.fromCharCode(...new TextEncoder().encode(secret))
  yield* bothAlphabets(btoa(bytes))
  // Within a longer text, as in “user:secret”: the characters that encode the secret alone, at each offset.
  for (const before of [0, 1, 2]) {
    const [start, end] = [Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6)]
    yield* bothAlphabets(btoa('\0'.repeat(before) + bytes).slice(start, end))
  }
}

function bothAlphabets(base64: string): string[] {
  return [
    base64,
    base64
      .replaceAll('+', '-')
      .replaceAll('/', '_')
      .replace(/={1,2}$/, ''),
  ]
}
