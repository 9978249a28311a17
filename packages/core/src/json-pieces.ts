/** `JSON.parse` for long texts, in many steps. */
import type { JsonCut } from './json-limits.ts'

/** Keys that no sender can know: of the value that a piece continues, and of the filler at the end of a piece. */
const [CONTINUED, ENDED] = [crypto.randomUUID(), crypto.randomUUID()]
/** A value before and after each cut, so that a comma without a value is invalid in a piece as well. */
const FILLER = {
  list: { begin: '[0,', end: ',0]' },
  object: { begin: `{"${CONTINUED}":0,`, end: `,"${ENDED}":0}` },
}

/** The lists and objects that are open at a cut, with the keys of objects. */
interface Opened {
  keys: readonly (string | undefined)[]
  cut: JsonCut['cut']
}

/**
 * Parses a JSON text piece by piece. Each piece is a JSON text of its own: it opens what was open before it, and closes
 * what stays open. The values of the pieces are put together.
 *
 * @param json UTF-8, within the limits of `createJsonCounter`
 * @param cuts see `createJsonCounter`
 * @param yieldToLoop awaited before each piece
 * @returns what `JSON.parse` returns for the whole text
 * @throws {SyntaxError} with the position in the whole text, if the text is not JSON
 * @throws {TypeError} if the text is not UTF-8
 */
export async function parseInPieces(
  json: Uint8Array,
  cuts: readonly JsonCut[],
  yieldToLoop: () => Promise<void> | undefined,
): Promise<unknown> {
  const keyOf = (place: readonly [number, number]) =>
    String(JSON.parse(decode(json.subarray(...place), true)))
  let whole: unknown
  let opened: Opened | undefined
  let from = 0
  let passed = 0
  for (const cut of [...cuts, undefined]) {
    await yieldToLoop()
    const text = decode(json.subarray(from, cut?.at ?? json.length), from > 0)
    const start = opened ? opening(opened) : ''
    const piece = parsePiece(start, text, cut ? closing(cut) : '', passed)
    if (opened) append(whole, piece, opened)
    else whole = piece
    if (!cut) break
    opened = { keys: cut.open.map((place) => place && keyOf(place)), cut: cut.cut }
    from = cut.at + 1
    passed += text.length + 1
  }
  return whole
}

/**
 * Decodes UTF-8.
 *
 * @param ignoreBOM whether a byte order mark at the beginning stays
 * @throws {TypeError} if the bytes are not UTF-8
 */
export function decode(bytes: Uint8Array, ignoreBOM = false): string {
  return (ignoreBOM ? exactDecoder : decoder).decode(bytes)
}

const decoder = new TextDecoder('utf-8', { fatal: true })
const exactDecoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** @param passed characters of the whole text before the piece */
function parsePiece(start: string, text: string, end: string, passed: number): unknown {
  try {
    return JSON.parse(start + text + end)
  } catch (error) {
    const position = error instanceof Error ? /position (\d+)/.exec(error.message)?.[1] : undefined
    if (position === undefined) throw error
    throw new SyntaxError(`at position ${passed + Number(position) - start.length}`)
  }
}

function opening({ keys, cut }: Opened): string {
  const containers = keys.map((key) => (key === undefined ? '[' : `{"${CONTINUED}":`))
  return containers.join('') + FILLER[cut].begin
}

function closing({ open, cut }: JsonCut): string {
  const containers = open.map((place) => (place === undefined ? ']' : '}'))
  return FILLER[cut].end + containers.reverse().join('')
}

/** Moves the values of a piece to the end of what was parsed before. */
function append(whole: unknown, piece: unknown, { keys }: Opened): void {
  let [target, source] = [whole, piece]
  for (const key of keys) {
    // The first value of a list, or the one under the unknown key, continues the last one before.
    const isList = key === undefined
    const [last, next] = [ownValue(target, key), ownValue(source, isList ? 0 : CONTINUED)]
    move(target, source)
    target = last
    source = next
  }
  if (Array.isArray(target)) target.pop()
  else if (typeof target === 'object' && target !== null) Reflect.deleteProperty(target, ENDED)
  move(target, source)
}

/** Moves all but the first value of a list, or all but the unknown keys of an object. */
function move(target: unknown, source: unknown): void {
  if (Array.isArray(target) && Array.isArray(source)) {
    for (let at = 1; at < source.length; at += 1) target.push(source[at])
    return
  }
  if (typeof target !== 'object' || target === null) return
  for (const [name, value] of Object.entries(source ?? {})) {
    // Not an assignment, which would set the prototype if the name is `__proto__`.
    const property = { value, writable: true, enumerable: true, configurable: true }
    if (name !== CONTINUED && name !== ENDED) Object.defineProperty(target, name, property)
  }
}

/** @param key of an object, or a place in a list; by default the last one */
function ownValue(container: unknown, key: string | number | undefined): unknown {
  if (Array.isArray(container)) return container.at(typeof key === 'number' ? key : -1)
  return typeof container === 'object' && container !== null && key !== undefined
    ? Reflect.get(container, key)
    : undefined
}
