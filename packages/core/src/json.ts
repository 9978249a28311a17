/** Reads the JSON of strangers: within limits, and with the keys that they wrote. */

const MAX_DEPTH = 32
/** Different keys: each new one takes memory that V8 gives back late. */
const MAX_NAMES = 20_000
/** A text that is not longer has fewer names than that: each takes five characters, as in `"":1,`. */
const LONGEST_WITH_FEW_NAMES = 5 * MAX_NAMES
const MAX_VALUES = 200_000

const [QUOTE, COMMA, COLON, BACKSLASH] = [0x22, 0x2c, 0x3a, 0x5c]
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d]

/** A JSON text that was read. */
export interface ReadJson {
  value?: unknown
  /** How many values the text has, keys not counted. */
  values: number
  /** The limit that the text exceeds, as the end of a sentence. Then it was not parsed. */
  excess?: string
}

/**
 * Parses a JSON text, if it is within the limits of size.
 *
 * @param maxValues the most values that it may have, keys not counted
 * @throws {SyntaxError} if it is not JSON
 */
export function readJson(text: string, maxValues = MAX_VALUES): ReadJson {
  const { values, excess, escapedKeys } = count(text, maxValues)
  if (excess !== undefined) return { values, excess }
  return { values, value: escapedKeys.length > 0 ? parseEscaped(text, escapedKeys) : JSON.parse(text) }
}

/** Where the keys with an escape begin and end. */
type Places = [from: number, to: number][]

/** Reads the text once. It leaves invalid JSON to `JSON.parse`. */
function count(text: string, maxValues: number): Omit<ReadJson, 'value'> & { escapedKeys: Places } {
  const escapedKeys: Places = []
  const names = text.length > LONGEST_WITH_FEW_NAMES ? new Set<string>() : undefined
  let [depth, values, from, to, isEscaped] = [0, 1, 0, 0, false]
  const exceeds = (excess: string) => ({ values, excess, escapedKeys })
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    // Most characters are none of these.
    if (code > CLOSE_OBJECT || (code > COLON && code < OPEN_LIST) || code < QUOTE) continue
    if (code === QUOTE) {
      from = at + 1
      isEscaped = false
      for (at += 1; at < text.length && text.charCodeAt(at) !== QUOTE; at += 1) {
        if (text.charCodeAt(at) !== BACKSLASH) continue
        isEscaped = true
        at += 1
      }
      to = at
    } else if (code === COLON) {
      if ((names?.add(text.slice(from, to)).size ?? 0) > MAX_NAMES)
        return exceeds(`has more than ${withCommas(MAX_NAMES)} different keys`)
      if (isEscaped) escapedKeys.push([from, to])
      // In a text that is not JSON, the next colon may follow at once.
      isEscaped = false
      from = to
    } else if (code === COMMA) {
      values += 1
    } else if (code === OPEN_LIST || code === OPEN_OBJECT) {
      depth += 1
      if (!isEmptyFrom(text, at)) values += 1
      if (depth > MAX_DEPTH) return exceeds(`is nested deeper than ${MAX_DEPTH} levels`)
    } else if (code === CLOSE_LIST || code === CLOSE_OBJECT) {
      if (depth > 0) depth -= 1
    }
    if (values > maxValues) return exceeds(`has more than ${withCommas(maxValues)} values`)
  }
  return { values, escapedKeys }
}

/** Whether the list or object that begins at a place has nothing in it. */
function isEmptyFrom(text: string, start: number): boolean {
  let at = start + 1
  while (text.charCodeAt(at) <= 0x20) at += 1
  const code = text.charCodeAt(at)
  return code === CLOSE_LIST || code === CLOSE_OBJECT
}

/**
 * Parses a text that has keys with escapes. V8 may take such a key for one of an earlier text: `{"a\n":1}` becomes
 * `{"a\\":1}`. So each is encoded for the time of the parsing.
 */
function parseEscaped(text: string, places: Places): unknown {
  // No sender can know it.
  const prefix = crypto.randomUUID()
  const decode = (name: string) =>
    name.startsWith(prefix) ? JSON.parse(`"${decodeURIComponent(name.slice(prefix.length))}"`) : name
  const restore = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(restore)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [decode(name), restore(item)]))
  }
  let encoded = ''
  let end = 0
  for (const [from, to] of places) {
    encoded += text.slice(end, from) + prefix + encodeURIComponent(text.slice(from, to).toWellFormed())
    end = to
  }
  try {
    return restore(JSON.parse(encoded + text.slice(end)))
  } catch {
    // For the position of the fault.
    return JSON.parse(text)
  }
}

/** Not `toLocaleString`, which takes 20 ms the first time. */
export const withCommas = (number: number) => String(number).replaceAll(/\B(?=(\d{3}){1,5}$)/g, ',')
