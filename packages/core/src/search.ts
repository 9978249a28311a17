/** Below this, the engine’s own search is fast for every text. */
const LONG_TEXT = 4_096
/** The engine’s own search takes quadratic time for a text that repeats more than this, such as `aaaa…`. */
const LONG_REPETITION = 16

/** Finds the next place of one text in others, in linear time. */
export type Search = (text: string, from: number) => number

/** Makes the search for a text. The text may come from a stranger, and so may those that it is looked for in. */
export function createSearch(wanted: string): Search {
  let borders: Int32Array | undefined
  let isRepetitive: boolean | undefined
  return (text, from) => {
    if (text.length < LONG_TEXT) return text.indexOf(wanted, from)
    borders ??= bordersOf(wanted)
    isRepetitive ??= [borders, bordersOf(Array.from(wanted).reverse().join(''))].some(hasLongBorder)
    return isRepetitive ? searchWith(borders, wanted, text, from) : text.indexOf(wanted, from)
  }
}

const hasLongBorder = (borders: Int32Array) => borders.some((border) => border > LONG_REPETITION)

/** For each beginning of a text, the length of its longest end that is also its beginning (Knuth, Morris, Pratt). */
function bordersOf(text: string): Int32Array {
  const borders = new Int32Array(text.length)
  let border = 0
  for (let at = 1; at < text.length; at += 1) {
    while (border > 0 && text[at] !== text[border]) border = borders[border - 1] ?? 0
    if (text[at] === text[border]) border += 1
    borders[at] = border
  }
  return borders
}

function searchWith(borders: Int32Array, wanted: string, text: string, from: number): number {
  let matched = 0
  for (let at = from; at < text.length; at += 1) {
    while (matched > 0 && text[at] !== wanted[matched]) matched = borders[matched - 1] ?? 0
    if (text[at] === wanted[matched]) matched += 1
    if (matched === wanted.length) return at - matched + 1
  }
  return -1
}
