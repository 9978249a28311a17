import { IntegrationError } from '../errors.ts'

// Short bodies can be expensive to parse, validate or walk. Keys are limited per object, because a batch of
// 10,000 mails with a handful of keys each is normal, and one object with as many keys is not. The limit of
// values is far above such a batch: 10 MB of `{},{},{}` would otherwise block the process for 20 seconds.
const MAX_DEPTH = 32
const MAX_KEYS = 5_000
const MAX_VALUES = 500_000
/** Keys beyond so many in an object are limited for all objects together: `JSON.parse` takes 100 ms for 200,000. */
const FEW_KEYS = 200
const MAX_MORE_KEYS = 20_000
/** `JSON.parse` takes 60 ms for a number of ten megabytes. No number needs more. */
const MAX_DIGITS = 1_000

const [QUOTE, COMMA, COLON, BACKSLASH] = [0x22, 0x2c, 0x3a, 0x5c]
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d]

/**
 * Counts the structure of a JSON text in one pass over its bytes. Leaves invalid JSON to `JSON.parse`.
 *
 * @returns how many values it has, keys not counted
 * @throws {IntegrationError} `invalid_json` if the text exceeds a limit
 */
export function checkJsonLimits(json: Uint8Array): number {
  const keys = new Uint32Array(MAX_DEPTH + 1)
  let depth = 0
  let values = 1
  let at = 0
  let digits = 0
  let moreKeys = 0
  while (at < json.length) {
    const byte = json[at] ?? 0
    at += 1
    // Most bytes are none of these. Skipping them first saves four fifths of the time.
    if (byte > CLOSE_OBJECT || (byte > COLON && byte < OPEN_LIST) || byte < QUOTE) continue
    switch (byte) {
      case QUOTE:
        while (at < json.length && json[at] !== QUOTE) at += json[at] === BACKSLASH ? 2 : 1
        at += 1
        break
      case COLON:
        keys[depth] = (keys[depth] ?? 0) + 1
        if ((keys[depth] ?? 0) > MAX_KEYS) throw tooLarge('has an object with more than', MAX_KEYS, 'keys')
        if ((keys[depth] ?? 0) > FEW_KEYS) moreKeys += 1
        if (moreKeys > MAX_MORE_KEYS)
          throw tooLarge('has large objects with more than', MAX_MORE_KEYS, 'keys')
        break
      case OPEN_LIST:
      case OPEN_OBJECT:
        depth += 1
        values += 1
        if (depth > MAX_DEPTH) throw tooLarge('is nested deeper than', MAX_DEPTH, 'levels')
        keys[depth] = 0
        break
      case CLOSE_LIST:
      case CLOSE_OBJECT:
        if (depth > 0) depth -= 1
        break
      case COMMA:
        values += 1
        break
      default:
        digits += 1
        if (digits > MAX_DIGITS) throw tooLarge('has a number of more than', MAX_DIGITS, 'digits')
        continue
    }
    digits = 0
    if (values > MAX_VALUES) throw tooLarge('has more than', MAX_VALUES, 'values')
  }
  return values
}

function tooLarge(problem: string, limit: number, unit: string): IntegrationError {
  return new IntegrationError('invalid_json', `The body ${problem} ${limit.toLocaleString('en')} ${unit}.`)
}
