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

/** Between two cuts, in bytes: `JSON.parse` takes some milliseconds for so much, and 60 ms for ten megabytes. */
const PIECE_BYTES = 128 * 1024

/** A comma in a list or an object, where a long JSON text can be cut. */
export interface JsonCut {
  /** The position of the comma. */
  readonly at: number
  /**
   * The lists and objects that are open there, from the outside to the one of the comma, `cut`: `undefined` for a list;
   * for an object, where the text of the key begins and ends whose value is open.
   */
  readonly open: readonly (readonly [from: number, to: number] | undefined)[]
  readonly cut: 'list' | 'object'
}

/** Counts the structure of a JSON text. */
export interface JsonCounter {
  /** How many values there are so far, keys not counted. */
  // No getter: V8 keeps a hidden class for each object literal with one, with all that the getter sees.
  values(): number
  /** Where the text can be cut, about {@link PIECE_BYTES} apart. There is none in a long string. */
  readonly cuts: readonly JsonCut[]
  /**
   * Counts the next bytes of the text.
   *
   * @returns the limit that the text exceeds, as the end of a sentence
   */
  add(json: Uint8Array): string | undefined
}

/** Grows with the depth. Most texts are shallow. */
const numbersByDepth = () => [0, 0, 0, 0]

/**
 * Makes a counter that reads a JSON text once, in one piece or several. Leaves invalid JSON to `JSON.parse`.
 *
 * @param options `maxValues`: the most values that the text may have, keys not counted; `pieceBytes`: the shortest way
 * between two cuts
 */
export function createJsonCounter({ maxValues = MAX_VALUES, pieceBytes = PIECE_BYTES } = {}): JsonCounter {
  const keys = numbersByDepth()
  // By depth: whether a list is open, or where the last key of the object is.
  const isList = numbersByDepth()
  const keyStarts = numbersByDepth()
  const keyEnds = numbersByDepth()
  const cuts: JsonCut[] = []
  let moreKeys = 0
  const state = {
    depth: 0,
    values: 1,
    digits: 0,
    isText: false,
    skip: 0,
    before: 0,
    text: 0,
    nextCut: pieceBytes,
  }

  return {
    cuts,
    values: () => state.values,
    add(json) {
      // Variables of the function itself: the loop takes twice as long with any others.
      let { depth, values, digits, isText, skip: at, text, nextCut } = state
      const { before } = state
      while (at < json.length) {
        if (isText) {
          while (at < json.length && json[at] !== QUOTE) at += json[at] === BACKSLASH ? 2 : 1
          if (at >= json.length) break
          isText = false
          at += 1
          continue
        }
        const byte = json[at] ?? 0
        at += 1
        // Most bytes are none of these. Skipping them first saves four fifths of the time.
        if (byte > CLOSE_OBJECT || (byte > COLON && byte < OPEN_LIST) || byte < QUOTE) continue
        switch (byte) {
          case QUOTE:
            isText = true
            text = before + at - 1
            break
          case COLON:
            keys[depth] = (keys[depth] ?? 0) + 1
            keyStarts[depth] = text
            keyEnds[depth] = before + at - 1
            if ((keys[depth] ?? 0) > MAX_KEYS) return tooMany('has an object with', MAX_KEYS, 'keys')
            if ((keys[depth] ?? 0) > FEW_KEYS) moreKeys += 1
            if (moreKeys > MAX_MORE_KEYS) return tooMany('has large objects with', MAX_MORE_KEYS, 'keys')
            break
          case OPEN_LIST:
          case OPEN_OBJECT:
            depth += 1
            values += 1
            if (depth > MAX_DEPTH) return `is nested deeper than ${MAX_DEPTH} levels`
            keys[depth] = 0
            keyStarts[depth] = 0
            keyEnds[depth] = 0
            isList[depth] = byte === OPEN_LIST ? 1 : 0
            break
          case CLOSE_LIST:
          case CLOSE_OBJECT:
            if (depth > 0) depth -= 1
            break
          case COMMA:
            values += 1
            if (before + at < nextCut || depth === 0) break
            nextCut = before + at + pieceBytes
            cuts.push({
              at: before + at - 1,
              open: openAt(depth - 1),
              cut: isList[depth] ? 'list' : 'object',
            })
            break
          default:
            digits += 1
            if (digits > MAX_DIGITS) return tooMany('has a number of', MAX_DIGITS, 'digits')
            continue
        }
        digits = 0
        if (values > maxValues) return tooMany('has', maxValues, 'values')
      }
      const skip = at - json.length
      Object.assign(state, {
        depth,
        values,
        digits,
        isText,
        skip,
        before: before + json.length,
        text,
        nextCut,
      })
      return undefined
    },
  }

  function openAt(depth: number): JsonCut['open'] {
    return Array.from({ length: depth }, (_, level) =>
      isList[level + 1] ? undefined : ([keyStarts[level + 1] ?? 0, keyEnds[level + 1] ?? 0] as const),
    )
  }
}

/** Not `toLocaleString`, which takes 20 ms the first time. */
export function withCommas(number: number): string {
  if (number < 1_000) return String(number)
  return `${withCommas(Math.floor(number / 1_000))},${String(number % 1_000).padStart(3, '0')}`
}

function tooMany(problem: string, limit: number, unit: string): string {
  return `${problem} more than ${withCommas(limit)} ${unit}`
}
