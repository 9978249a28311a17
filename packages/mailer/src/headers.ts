import { isRecord, readField, readText } from './fields.ts'
import type { Faults } from './mail-error.ts'

/** C0, DEL, C1 (with U+0085), and the separators of lines and paragraphs. */
const CONTROL_CHARACTER = /[\p{Cc}\u2028\u2029]/u
const NAME = /^[\w!#$%&'*+.^`|~-]+$/
const LONGEST_NAME = 100
const OF_MESSAGE = /^(?:from|to|b?cc|reply-to|subject)$/i
/** The provider composes the body, and servers on the way leave these traces (RFC 5322 §3.6.6 and §3.6.7, RFC 8601). */
const OF_PROVIDER =
  /^(?:sender|date|mime-version|content-(?!language$).*|resent-.*|return-path|received(?:-.*)?|(?:apparently|delivered)-to|x-original-to|(?:x-)?envelope-.*|(?:dkim|domainkey)-signature|authentication-results|arc-.*)$/i

/** Whether a text contains a line break or another control character, which could start a new header. */
export function hasControlCharacter(text: string): boolean {
  return CONTROL_CHARACTER.test(text)
}

/** Checks a text that becomes a line of the head; `undefined` if it is absent or invalid. An empty text is absent. */
export function readLine(faults: Faults, path: string, value: unknown): string | undefined {
  if (typeof value === 'string') {
    if (!hasControlCharacter(value)) return value || undefined
    faults.add(path, 'contains a line break or another control character')
  } else if (value !== undefined && value !== null) faults.add(path, 'must be text')
  return undefined
}

/** Checks headers, and puts them into the provider’s format. A header of the message replaces the default of its name. */
export function readHeaders(
  faults: Faults,
  given: unknown,
  defaults: unknown,
): { Name: string; Value: string }[] | undefined {
  const own = readTexts(faults, 'headers', given)
  const named = new Set(own.map(([name]) => name.toLowerCase()))
  const others = given === defaults ? [] : readTexts(faults, 'headers', defaults ?? {})
  const texts = [...own, ...others.filter(([name]) => !named.has(name.toLowerCase()))]
  for (const [name] of texts) {
    if (!isName(name)) faults.add('headers', 'contains an invalid header name')
    else if (OF_MESSAGE.test(name)) faults.add(`headers.${name}`, 'is a field of the message: set it there')
    else if (OF_PROVIDER.test(name)) faults.add(`headers.${name}`, 'is written by mail servers')
    else if (!named.delete(name.toLowerCase()) && own.some(([each]) => each === name))
      faults.add(`headers.${name}`, 'is there already, in another case')
  }
  return texts.length > 0 ? texts.map(([Name, Value]) => ({ Name, Value })) : undefined
}

/** Checks metadata. A value of the message replaces the default of its name. */
export function readMetadata(
  faults: Faults,
  given: unknown,
  defaults: unknown,
): Record<string, string> | undefined {
  const others = given === defaults ? [] : readTexts(faults, 'metadata', defaults ?? {})
  const texts = [...others, ...readTexts(faults, 'metadata', given)]
  for (const [name] of texts)
    if (hasControlCharacter(name)) faults.add('metadata', 'contains a control character in a name')
  return texts.length > 0 ? Object.fromEntries(texts) : undefined
}

/** The texts of an object, a `Map`, `Headers` or a list of names and values, without the empty ones. */
function readTexts(faults: Faults, field: string, value: unknown): [name: string, text: string][] {
  const entries = entriesOf(value)
  if (!entries) faults.add(field, 'must be an object of texts, by name')
  return (entries ?? []).flatMap(([name, each]): [string, string][] => {
    // The path repeats only a valid name, which can’t be an address or contain a line break.
    const path = isName(name) ? `${field}.${name}` : field
    if (typeof each === 'number' && !Number.isFinite(each))
      faults.add(path, 'must be text or a finite number')
    const text = readLine(faults, path, typeof each === 'number' ? String(each) : each)
    return text === undefined ? [] : [[name, text]]
  })
}

/** @returns `undefined` if the value has no names */
function entriesOf(value: unknown): [name: string, value: unknown][] | undefined {
  if (!isRecord(value)) return undefined
  if (!Array.isArray(value)) {
    const { entries } = value
    const pairs: Iterable<[unknown, unknown]> =
      typeof entries === 'function' ? entries.call(value) : Object.entries(value)
    return Array.from(pairs, ([name, each]) => [String(name), each])
  }
  const named = value.flatMap((item: unknown): [string, unknown][] => {
    const name = readText(item, 'Name')
    return name === undefined ? [] : [[name, readField(item, 'Value')]]
  })
  return named.length === value.length ? named : undefined
}

/** Whether a text may be repeated in an error: it can’t be an address, or contain a line break. */
export function isName(text: string): boolean {
  return text.length <= LONGEST_NAME && NAME.test(text)
}
