/**
 * How much structure a body may have, counted before it becomes objects.
 *
 * @module
 */
import { IntegrationError } from '../errors.ts'

/**
 * What a body may hold. Its length is limited already; these limits are for bodies that are short and cost much
 * all the same, in `JSON.parse`, in validation, or in whatever walks through them by recursion.
 *
 * Keys are counted for each object and not in all, because a batch of ten thousand mails, each with a handful
 * of keys, is what the host is for, and a single object with as many keys is not. The values in all have a limit
 * of their own, far above such a batch (fifty to each mail): ten megabytes of `{},{},{}` would otherwise keep
 * the process busy for twenty seconds.
 */
const jsonLimits = { depth: 32, keysOfOneObject: 5_000, values: 500_000 } as const

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const BACKSLASH = 0x5c
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d]

/**
 * Counts the structure of a JSON text in one pass over its bytes. What is not JSON is left for `JSON.parse` to
 * refuse.
 *
 * @throws {IntegrationError} `invalid_json`, where a limit is exceeded
 */
export function checkJsonLimits(json: Uint8Array): void {
  const keys = new Uint32Array(jsonLimits.depth + 1)
  let depth = 0
  let values = 1
  let at = 0
  while (at < json.length) {
    const byte = json[at] ?? 0
    at += 1
    // Most bytes are none of these; told first, they cost a fifth.
    if (byte > CLOSE_OBJECT || (byte > COLON && byte < OPEN_LIST) || byte < QUOTE) continue
    switch (byte) {
      case QUOTE:
        at = afterString(json, at)
        break
      case COLON: {
        const count = (keys[depth] ?? 0) + 1
        keys[depth] = count
        if (count > jsonLimits.keysOfOneObject)
          throw exceeded(`has an object with more than ${shown(jsonLimits.keysOfOneObject)} keys`)
        break
      }
      case OPEN_LIST:
      case OPEN_OBJECT:
        depth += 1
        values += 1
        if (depth > jsonLimits.depth) throw exceeded(`is nested deeper than ${jsonLimits.depth} levels`)
        keys[depth] = 0
        break
      case CLOSE_LIST:
      case CLOSE_OBJECT:
        if (depth > 0) depth -= 1
        break
      case COMMA:
        values += 1
        break
    }
    if (values > jsonLimits.values) throw exceeded(`holds more than ${shown(jsonLimits.values)} values`)
  }
}

/** Where the text goes on after the string that began before `from`. */
function afterString(json: Uint8Array, from: number): number {
  let at = from
  while (at < json.length) {
    const byte = json[at]
    at += 1
    if (byte === QUOTE) return at
    if (byte === BACKSLASH) at += 1
  }
  return at
}

function shown(limit: number): string {
  return limit.toLocaleString('en')
}

function exceeded(what: string): IntegrationError {
  return new IntegrationError('invalid_json', `The body ${what}.`)
}
