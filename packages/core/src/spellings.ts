/**
 * The spellings in which a provider or a log repeats a secret. Escapes are undone in the text, in three rounds;
 * hexadecimal and base64 are made from the secret. Letters match in either case.
 */

/** Longer values are no keys; their encodings would cost too much. */
const MAX_ENCODED_LENGTH = 10_000
/** JSON within JSON within a URL. */
const ROUNDS = 3

/** A text to search, and where its parts stand in the original. */
export interface View {
  /** In lower case. */
  text: string
  /** The place in the original of the characters from `start` to `end`. */
  locate(start: number, end: number): readonly [start: number, end: number]
}

/** The text itself, the text without one, two and three layers of escapes, and each of these without line breaks. */
export function viewsOf(text: string): View[] {
  const views: View[] = [{ text: fold(text), locate: (start, end) => [start, end] }]
  if (!/[%\\&\n\r]/.test(text)) return views
  for (const view of views) {
    const plain = views.length <= ROUNDS ? rewrite(view, ESCAPE, 1, decodeEscape) : undefined
    if (plain) views.push(plain)
  }
  return views
    .flatMap((view) => [view, rewrite(view, LINE_BREAK, 0, () => '')])
    .filter((view) => view !== undefined)
}

const ESCAPE =
  /%[\da-f]{2}|\\(?:u[\da-f]{4}|x[\da-f]{2}|[^ux])|&(?:amp|lt|gt|quot|apos|#\d{1,6}|#x[\da-f]{1,5});/g
/** A break of a wrapped text, with the indent of the next line. */
const LINE_BREAK = /[\r\n][\r\n\t ]*/g
const NAMED = new Map([
  ...Object.entries({ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }),
  ...Object.entries({ n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' }),
])
const toUnit = (code: number) => fold(String.fromCharCode(code))
/** A percent escape is one byte of UTF-8, as in the forms of a secret. */
const PERCENT = new Map(
  Array.from({ length: 256 }, (_, byte) => [`%${byte.toString(16).padStart(2, '0')}`, toUnit(byte)]),
)

/** The UTF-16 unit of an escape, in lower case. */
function decodeEscape(escaped: string): string {
  const byte = PERCENT.get(escaped)
  if (byte !== undefined) return byte
  if (escaped.startsWith('\\')) {
    const name = escaped.slice(1)
    return name.length > 1 ? toUnit(Number.parseInt(name.slice(1), 16)) : (NAMED.get(name) ?? name)
  }
  const name = escaped.slice(1, -1)
  if (name.startsWith('#x')) return toUnit(Number.parseInt(name.slice(2), 16))
  return name.startsWith('#') ? toUnit(Number(name.slice(1))) : (NAMED.get(name) ?? '')
}

/** The view with each match replaced by `length` units, one or none; `undefined` if there is no match. */
function rewrite(
  view: View,
  pattern: RegExp,
  length: 0 | 1,
  replace: (match: string) => string,
): View | undefined {
  /** For each match, its place in the new text, and how much shorter the text became up to and with it. */
  const places: number[] = []
  const losses: number[] = []
  let lost = 0
  const text = view.text.replaceAll(pattern, (match: string, from: number) => {
    places.push(from - lost)
    lost += match.length - length
    losses.push(lost)
    return replace(match)
  })
  if (places.length === 0) return undefined
  /** How much is lost before a place of the new text. */
  const lostBefore = (place: number) => {
    let [low, high] = [0, places.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((places[middle] ?? 0) < place) low = middle + 1
      else high = middle
    }
    return losses[low - 1] ?? 0
  }
  return {
    text,
    // Characters that were skipped right before the start or right after the end do not belong to the place.
    locate: (start, end) => view.locate(start + lostBefore(start + 1 - length), end + lostBefore(end)),
  }
}

/** In lower case, with the same length: İ alone would become two units. */
function fold(text: string): string {
  return text.replaceAll('İ', 'i').toLowerCase()
}

/** A secret in lower case: as it is, without escapes of its own, in UTF-8, in forms, in hexadecimal and in base64. */
export function* formsOf(secret: string): Generator<string> {
  for (const { text } of viewsOf(secret)) yield text
  if (secret.length > MAX_ENCODED_LENGTH) return
  const bytes = String.fromCharCode(...new TextEncoder().encode(secret))
  for (const spelling of [secret, bytes]) {
    yield fold(spelling)
    yield fold(spelling).replaceAll(' ', '+')
  }
  yield Array.from(bytes, (byte) => byte.charCodeAt(0).toString(16).padStart(2, '0')).join('')
  yield* bothAlphabets(btoa(bytes))
  // Within a longer text, as in “user:secret”: the characters that encode the secret alone, at each offset.
  for (const before of [0, 1, 2]) {
    const [start, end] = [Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6)]
    yield* bothAlphabets(btoa('\0'.repeat(before) + bytes).slice(start, end))
  }
}

function bothAlphabets(base64: string): string[] {
  const lower = base64.toLowerCase()
  return [lower, lower.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')]
}
