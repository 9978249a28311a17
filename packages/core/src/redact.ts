import { toBase64 } from './base64.ts'
import { escapeInvisible, type Logger, maskAddresses } from './log.ts'

const MASK = '[redacted]'
/** Shorter values are common words; no provider issues a key that short. */
const MIN_LENGTH = 6
/** V8 finds so many characters in linear time, whatever they and the text repeat. */
const HEAD = 200
/** A name of a field in a schema, which tells nothing of a secret that is the same word. */
const FIELD = /^[a-z]+$/i
/** Longer values are no keys, and their encodings would cost too much. */
const MAX_ENCODED_LENGTH = 10_000

/** Makes a redactor. `secrets` are known from the start, for example from the configuration. */
export function createRedactor(secrets: Iterable<string> = []): Redactor {
  const redactor = new Redactor()
  for (const secret of secrets) redactor.add(secret)
  return redactor
}

const NONE: readonly string[] = []

/** Removes secrets from texts and data by their value, whichever way they got there. */
export class Redactor {
  readonly #inherited: Redactor | undefined
  readonly #own = new Set<string>()
  #last = { before: NONE, size: 0, all: NONE }
  #sent: unknown
  #spared: ReadonlySet<string> | undefined

  /** @param inherited knows more secrets, and may get more */
  constructor(inherited?: Redactor) {
    this.#inherited = inherited
  }

  /** Makes a redactor that knows the secrets of this one, those added later too. */
  extend(): Redactor {
    return new Redactor(this)
  }

  /** Makes one for a reader who sent this: secrets of the host in it stay, or a mask would tell which guess is one. */
  sparing(sent: unknown): Redactor {
    const redactor = this.extend()
    redactor.#sent = sent
    return redactor
  }

  /** Adds a secret, or each text of plain data. Anything but a text of at least six characters is ignored. */
  add(value: unknown): void {
    if (typeof value === 'object' && value !== null) for (const each of Object.values(value)) this.add(each)
    if (typeof value !== 'string' || value.trim().length < MIN_LENGTH) return
    // Schemas trim what people paste.
    for (const secret of new Set([value, value.trim()]))
      for (const spelling of spellingsOf(secret)) if (spelling.length >= MIN_LENGTH) this.#own.add(spelling)
  }

  text(text: string): string {
    const spellings = this.#spellings
    const clean = mask(text, spellings)
    // Most texts hold no secret, and what the reader sent may be long.
    if (clean === text || this.#sent === undefined) return clean
    this.#spared ??= this.#host.#spellingsIn(this.#sent)
    const spared = this.#spared
    const others = spellings.filter((spelling) => !spared.has(spelling))
    return mask(text, others)
  }

  /** Plain data without secrets: the data itself if it holds none, else a copy. */
  data<T>(data: T): T {
    return this.#spellings.length === 0 ? data : mapTexts(data, (text) => this.text(text))
  }

  /** The first of the line, which knows the secrets of the host. */
  get #host(): Redactor {
    return this.#inherited ? this.#inherited.#host : this
  }

  #spellingsIn(data: unknown): ReadonlySet<string> {
    const json = fold(JSON.stringify(data))
    const isIn = (spelling: string) => json.includes(spelling) || json.includes(quoted(spelling))
    return new Set(this.#spellings.filter(isIn))
  }

  /** All spellings, the shortest first. */
  get #spellings(): readonly string[] {
    const before = this.#inherited ? this.#inherited.#spellings : NONE
    const { size } = this.#own
    // Most events bring no secrets.
    if (size === 0) return before
    if (before !== this.#last.before || size !== this.#last.size) {
      const all = [...new Set([...before, ...this.#own])].sort((a, b) => a.length - b.length)
      this.#last = { before, size, all }
    }
    return this.#last.all
  }
}

/** The text with each place of a spelling masked. They may overlap: one secret may be the beginning of another. */
function mask(text: string, spellings: readonly string[]): string {
  const shortest = spellings[0]?.length ?? Number.POSITIVE_INFINITY
  if (text.length < Math.min(shortest, HEAD)) return text
  const folded = fold(text)
  const found: [start: number, end: number][] = []
  for (const spelling of spellings) {
    if (Math.min(spelling.length, HEAD) > text.length) break
    const head = spelling.slice(0, HEAD)
    for (let at = folded.indexOf(head); at !== -1; ) {
      let end = at + head.length
      // A longer one is recognised by its beginning, and masked as far as the text repeats it.
      while (end - at < spelling.length && folded[end] === spelling[end - at]) end += 1
      found.push([at, end])
      at = folded.indexOf(head, end)
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

/** A text without secrets for logs, in which mail addresses are masked, and what a terminal would not show is escaped. */
export function textForLog(redactor: Redactor, text: string): string {
  return escapeInvisible(maskAddresses(redactor.text(text)))
}

/** Data for logs, each text as by {@link textForLog}. */
export function dataForLog<T>(redactor: Redactor, data: T): T {
  return mapTexts(data, (text) => textForLog(redactor, text))
}

/** A logger that redacts each line. Core's event lines are redacted already; every other line should go through one. */
export function redactLines(logger: Logger, redactor: Redactor): Logger {
  return (level, message, facts) => logger(level, redactor.text(message), redactor.data(facts))
}

/** Plain data with each text, and each name that no schema has, replaced: the data itself if nothing changes, else a copy. */
function mapTexts<T>(data: T, replace: (text: string) => string): T
// Text by text and not as a whole: a secret may look like a number, or like the punctuation of JSON.
function mapTexts(data: unknown, replace: (text: string) => string): unknown {
  if (typeof data === 'string') return replace(data)
  if (typeof data !== 'object' || data === null) return data
  if (Array.isArray(data)) {
    const clean = data.map((item: unknown) => mapTexts(item, replace))
    return clean.every((item, at) => Object.is(item, data[at])) ? data : clean
  }
  const entries = Object.entries(data)
  const rename = (name: string) => (FIELD.test(name) ? name : replace(name))
  const clean = entries.map(([name, value]) => [rename(name), mapTexts(value, replace)] as const)
  const isSame = clean.every(
    ([name, value], at) => name === entries[at]?.[0] && Object.is(value, entries[at][1]),
  )
  return isSame ? data : Object.fromEntries(clean)
}

/** In lower case, with the same length: İ alone would become two units. */
function fold(text: string): string {
  return text.replaceAll('İ', 'i').toLowerCase()
}

/** The spellings of a secret in lower case: as it is, in JSON, in URLs and forms, in hexadecimal and in base64. */
function spellingsOf(secret: string): Set<string> {
  const json = quoted(secret)
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

/** As it stands between the quotes of JSON. */
const quoted = (text: string) => JSON.stringify(text).slice(1, -1)

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
