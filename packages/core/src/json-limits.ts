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

/** Counts the structure of a JSON text, in one piece or several. Leaves invalid JSON to `JSON.parse`. */
// A class: V8 keeps a hidden class for each object literal with a getter, with all that the getter sees.
export class JsonCounter {
  readonly #maxValues: number
  readonly #pieceBytes: number
  readonly #cuts: JsonCut[] = []
  // By depth: how many keys an object has, whether a list is open, and where the last key is. They grow with the depth,
  // and most texts are shallow.
  readonly #keys = [0, 0, 0, 0]
  readonly #isList = [false, false, false, false]
  readonly #keyStarts = [0, 0, 0, 0]
  readonly #keyEnds = [0, 0, 0, 0]
  #depth = 0
  #values = 1
  #moreKeys = 0
  #digits = 0
  #isText = false
  #skip = 0
  #before = 0
  #text = 0
  #nextCut: number

  /**
   * @param options `maxValues`: the most values that the text may have, keys not counted; `pieceBytes`: the shortest way
   * between two cuts
   */
  constructor({ maxValues = MAX_VALUES, pieceBytes = PIECE_BYTES } = {}) {
    this.#maxValues = maxValues
    this.#pieceBytes = pieceBytes
    this.#nextCut = pieceBytes
  }

  /** How many values there are so far, keys not counted. */
  get values(): number {
    return this.#values
  }

  /** Where the text can be cut, about {@link PIECE_BYTES} apart. There is none in a long string. */
  get cuts(): readonly JsonCut[] {
    return this.#cuts
  }

  /**
   * Counts the next bytes of the text.
   *
   * @returns the limit that the text exceeds, as the end of a sentence
   */
  add(json: Uint8Array): string | undefined {
    // Variables of the function itself: the loop takes twice as long with any others.
    let [depth, values, digits, isText] = [this.#depth, this.#values, this.#digits, this.#isText]
    let [at, text, nextCut] = [this.#skip, this.#text, this.#nextCut]
    const [before, keys, maxValues] = [this.#before, this.#keys, this.#maxValues]
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
        case COLON: {
          const count = (keys[depth] ?? 0) + 1
          keys[depth] = count
          this.#keyStarts[depth] = text
          this.#keyEnds[depth] = before + at - 1
          if (count > MAX_KEYS) return tooMany('has an object with', MAX_KEYS, 'keys')
          if (count > FEW_KEYS) this.#moreKeys += 1
          if (this.#moreKeys > MAX_MORE_KEYS) return tooMany('has large objects with', MAX_MORE_KEYS, 'keys')
          break
        }
        case OPEN_LIST:
        case OPEN_OBJECT:
          depth += 1
          values += 1
          if (depth > MAX_DEPTH) return `is nested deeper than ${MAX_DEPTH} levels`
          keys[depth] = 0
          this.#isList[depth] = byte === OPEN_LIST
          this.#keyStarts[depth] = 0
          this.#keyEnds[depth] = 0
          break
        case CLOSE_LIST:
        case CLOSE_OBJECT:
          if (depth > 0) depth -= 1
          break
        case COMMA:
          values += 1
          if (before + at < nextCut || depth === 0) break
          nextCut = before + at + this.#pieceBytes
          this.#cuts.push({
            at: before + at - 1,
            open: this.#openAt(depth - 1),
            cut: this.#isList[depth] ? 'list' : 'object',
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
    this.#depth = depth
    this.#values = values
    this.#digits = digits
    this.#isText = isText
    this.#skip = at - json.length
    this.#before = before + json.length
    this.#text = text
    this.#nextCut = nextCut
    return undefined
  }

  #openAt(depth: number): JsonCut['open'] {
    return Array.from({ length: depth }, (_, level) =>
      this.#isList[level + 1]
        ? undefined
        : ([this.#keyStarts[level + 1] ?? 0, this.#keyEnds[level + 1] ?? 0] as const),
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
