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
const UNKNOWN = { parent: NONE, size: 0, forms: NONE }

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
  const redactor = new ValueRedactor()
  for (const secret of secrets) redactor.add(secret)
  return redactor
}

class ValueRedactor implements Redactor {
  readonly #parent: ValueRedactor | undefined
  /** Most events bring no secret, and need no list of their own. */
  #own: Map<string, Form> | undefined
  #cached = UNKNOWN
  /** A function by itself, because others pass it on. */
  readonly text = (dirty: string): string => redact(dirty, this.#known())

  constructor(parent?: ValueRedactor) {
    this.#parent = parent
  }

  /** All forms, the shortest first. */
  #known(): readonly Form[] {
    const parent = this.#parent ? this.#parent.#known() : NONE
    const own = this.#own
    if (!own) return parent
    if (parent !== this.#cached.parent || own.size !== this.#cached.size) {
      const forms = [...parent, ...own.values()].sort((a, b) => a.length - b.length)
      this.#cached = { parent, size: own.size, forms }
    }
    return this.#cached.forms
  }

  add(value: unknown): void {
    if (typeof value !== 'string' || value.trim().length < MIN_LENGTH) return
    this.#own ??= new Map()
    // Schemas trim what people paste.
    for (const spelling of new Set([value, value.trim()])) {
      for (const form of formsOf(spelling)) {
        if (form.length >= MIN_LENGTH && !this.#own.has(form))
          this.#own.set(form, { length: form.length, search: createSearch(form) })
      }
    }
  }

  data<T>(data: T): T {
    return this.#known().length === 0 ? data : toEnd(mapTexts(data, this.text))
  }

  extend(): Redactor {
    return new ValueRedactor(this)
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

/** Redacts data as {@link Redactor.data} does, but much of it in slices. */
export async function redactInSlices<T>(redactor: Redactor, data: T): Promise<T> {
  const steps = mapTexts(data, redactor.text)
  const yieldToLoop = timeSliced()
  let step = steps.next()
  while (!step.done) {
    await yieldToLoop()
    step = steps.next()
  }
  return step.value
}

/** A text without secrets for logs, in which mail addresses are masked, and what a terminal would not show is escaped. */
export function textForLog(redactor: Redactor, text: string): string {
  return escapeInvisible(maskAddresses(redactor.text(text)))
}

/** Data for logs, each text as by {@link textForLog}. */
export function dataForLog<T>(redactor: Redactor, data: T): T {
  return toEnd(mapTexts(data, (text) => textForLog(redactor, text)))
}

/** A logger that redacts each line. Core's event lines are redacted already; every other line should go through one. */
export function redactLines(logger: Logger, redactor: Redactor): Logger {
  return (level, message, facts) => logger(level, redactor.text(message), redactor.data(facts))
}

const entriesOf: (value: object) => [string, unknown][] = Object.entries
/** Values between two steps. */
const STEP = 500

/** Plain data with each text and each name replaced, in steps: the data itself if nothing changes, else a copy. */
function mapTexts<T>(data: T, replace: (text: string) => string): Generator<undefined, T>
function* mapTexts(data: unknown, replace: (text: string) => string): Generator<undefined, unknown> {
  if (!(yield* changes(data, replace))) return data
  const whole: unknown[] = []
  // Text by text and not as a whole: a secret may look like a number, or like the punctuation of JSON.
  const waiting: [from: object, to: object][] = [[[data], whole]]
  let seen = 1
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const [from, to] = next
    for (const [name, value] of entriesOf(from)) {
      if (seen % STEP === 0) yield
      seen += 1
      let clean = value
      if (typeof value === 'string') clean = replace(value)
      else if (typeof value === 'object' && value !== null) {
        const copy = Array.isArray(value) ? [] : {}
        waiting.push([value, copy])
        clean = copy
      }
      // Not an assignment, which would set the prototype if the name is `__proto__`.
      const property = { value: clean, writable: true, enumerable: true, configurable: true }
      Object.defineProperty(to, Array.isArray(from) ? name : replace(name), property)
    }
  }
  return whole[0]
}

function* changes(data: unknown, replace: (text: string) => string): Generator<undefined, boolean> {
  const waiting = [data]
  for (let seen = 1; waiting.length > 0; seen += 1) {
    if (seen % STEP === 0) yield
    const value = waiting.pop()
    if (typeof value === 'string') {
      if (replace(value) !== value) return true
    } else if (Array.isArray(value)) {
      for (const item of value) waiting.push(item)
    } else if (typeof value === 'object' && value !== null) {
      for (const [name, member] of entriesOf(value)) {
        if (replace(name) !== name) return true
        waiting.push(member)
      }
    }
  }
  return false
}

function toEnd<T>(steps: Generator<undefined, T>): T {
  let step = steps.next()
  while (!step.done) step = steps.next()
  return step.value
}
