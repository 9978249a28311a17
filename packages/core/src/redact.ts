import { escapeInvisible, type Logger } from './log.ts'
import { maskAddresses } from './mask.ts'
import { createSearch, type Search } from './search.ts'
import { timeSliced } from './slices.ts'
import { formsOf, viewsOf } from './spellings.ts'

const MASK = '[redacted]'
/** Shorter values are common words; no provider issues a key that short. */
const MIN_LENGTH = 6

/** One spelling of a secret. */
interface Form {
  length: number
  search: Search
}
const NONE: readonly Form[] = []

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

function createChild(inherited: () => readonly Form[]): Redactor {
  const own = new Map<string, Form>()
  let cached = { parent: NONE, size: 0, forms: NONE }

  /** All forms, the shortest first. */
  const known = () => {
    const parent = inherited()
    // Most events bring no secret, and need no list of their own.
    if (own.size === 0) return parent
    if (parent !== cached.parent || own.size !== cached.size) {
      const forms = [...parent, ...own.values()].sort((a, b) => a.length - b.length)
      cached = { parent, size: own.size, forms }
    }
    return cached.forms
  }
  const text = (dirty: string) => redact(dirty, known())

  return {
    add(value) {
      if (typeof value !== 'string' || value.trim().length < MIN_LENGTH) return
      // Schemas trim what people paste.
      for (const spelling of new Set([value, value.trim()])) {
        for (const form of formsOf(spelling)) {
          if (form.length >= MIN_LENGTH && !own.has(form))
            own.set(form, { length: form.length, search: createSearch(form) })
        }
      }
    },
    text,
    data: (data) => (known().length === 0 ? data : mapTexts(data, text)),
    extend: () => createChild(known),
  }
}

/** The text with each place of a form masked. Forms may overlap: one secret may be the beginning of another. */
function redact(text: string, forms: readonly Form[]): string {
  const shortest = forms[0]?.length ?? Number.POSITIVE_INFINITY
  if (text.length < shortest) return text
  const found: (readonly [start: number, end: number])[] = []
  for (const view of viewsOf(text)) {
    for (const { length, search } of forms) {
      if (length > view.text.length) break
      for (let at = search(view.text, 0); at !== -1; at = search(view.text, at + length))
        found.push(view.locate(at, at + length))
    }
  }
  if (found.length === 0) return text
  found.sort(([a], [b]) => a - b)
  let clean = ''
  let end = 0
  for (const [start, until] of found) {
    if (start >= end) clean += text.slice(end, start) + MASK
    end = Math.max(end, until)
  }
  return clean + text.slice(end)
}

/** Entries of a list between two looks at the clock. */
const SLICE = 200

/** Redacts data as {@link Redactor.data} does, but the long lists in its fields in slices. */
export async function redactInSlices(
  redactor: Redactor,
  data: Record<string, unknown>,
): Promise<Record<string, unknown>> {
  if (!hasLongList(data)) return redactor.data(data)
  const clean: Record<string, unknown> = {}
  const yieldToLoop = timeSliced()
  for (const [name, value] of Object.entries(data)) {
    if (!Array.isArray(value)) {
      clean[name] = isFields(value) ? await redactInSlices(redactor, value) : redactor.data(value)
      continue
    }
    let items = value
    for (let at = 0; at < value.length; at += SLICE) {
      await yieldToLoop()
      const slice = value.slice(at, at + SLICE)
      const cleanSlice = redactor.data(slice)
      if (cleanSlice === slice) continue
      if (items === value) items = [...value]
      for (const [index, item] of cleanSlice.entries()) items[at + index] = item
    }
    clean[name] = items
  }
  return Object.keys(data).every((name) => clean[name] === data[name]) ? data : clean
}

const isFields = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Whether a field, or a field of a field, is a long list. */
function hasLongList(data: Record<string, unknown>): boolean {
  return Object.values(data).some((value) =>
    isFields(value)
      ? Object.values(value).some((inner) => Array.isArray(inner) && inner.length > SLICE)
      : Array.isArray(value) && value.length > SLICE,
  )
}

/** A redactor for logs: it also masks mail addresses, and escapes what a terminal would not show. */
export function forLogs(redactor: Redactor): Pick<Redactor, 'text' | 'data'> {
  const text = (dirty: string) => escapeInvisible(maskAddresses(redactor.text(dirty)))
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
