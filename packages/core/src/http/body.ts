/** The body of a request, in the form that the runtime sends at most once. */

import { breathe } from '../breathe.ts'

/** A `Uint8Array` that is not shared; compilers before 5.7 have no name for it. */
type Bytes = ReturnType<TextEncoder['encode']>

/** A piece of JSON text, or the UTF-8 bytes of one. */
// Not Uint8Array<ArrayBuffer>, which TypeScript below 5.7 does not know.
export type JsonPart = string | Uint8Array

/** A body for `fetch`. */
interface OutgoingBody {
  body: string | Bytes | Blob | ReadableStream | null
  headers?: Record<string, string>
  /** Whether the runtime never asked for the end of the body: then no server can have acted on it. */
  isWithheld(): boolean
}

declare const Deno: unknown
declare const Bun: unknown
/** A stream of Workers, whose requests have a `content-length`. */
declare const FixedLengthStream: (new (bytes: number) => TransformStream) | undefined

/** A body of this length or less is made at once. In UTF-16 code units and bytes. */
const SHORT = 1024 * 1024
/** A longer one is made in turns of this length, each of which takes a few milliseconds. */
const TURN = 4 * 1024 * 1024
/** Shorter texts share a piece of a stream, and longer bytes are cut into several. */
const PIECE = 256 * 1024
/** Workers read two pieces before they connect, other runtimes none or one. */
const READ_AHEAD = 2
/** Node gives up a connection after 10 seconds, as its coarse timer counts them, and says so. */
const SLOWEST_CONNECTION_MS = 12_000

/**
 * Makes a body of JSON text.
 *
 * @param limitMs the time limit of a request that must not be sent twice; `Infinity` for others
 * @returns a promise only for a long body, of which bytes are not copied
 */
export function toBody(
  method: string,
  parts: readonly JsonPart[] | undefined,
  limitMs: number,
): OutgoingBody | Promise<OutgoingBody> {
  // Deno's fetch repeats a request when a kept connection breaks, even a POST. It does not repeat one with a Blob.
  const isDeno = typeof Deno !== 'undefined'
  if (!parts) {
    const body = isDeno && (method === 'POST' || method === 'PATCH') ? new Blob([]) : null
    return whole(body)
  }
  const isShort = parts.reduce((sum, { length }) => sum + length, 0) <= SHORT
  if (isDeno)
    return isShort
      ? whole(new Blob(parts.map(unshared)))
      : inTurns(parts, (group) => new Blob(group.map(unshared))).then((blobs) => whole(new Blob(blobs)))
  if (!isShort) return inTurns(parts, toPieces).then((turns) => toStream(turns.flat()))
  // By a stream, the client learns whether a connection stood. Node says so itself, and is faster with a text.
  const isNode = typeof Bun === 'undefined' && typeof FixedLengthStream === 'undefined'
  const isText = parts.every((part) => typeof part === 'string')
  if (isNode && isText && limitMs >= SLOWEST_CONNECTION_MS) return whole(parts.join(''))
  return toStream(toPieces(parts))
}

function whole(body: OutgoingBody['body']): OutgoingBody {
  return { body, isWithheld: () => false }
}

/** Only shared memory must be copied. */
function unshared(part: Uint8Array): Uint8Array<ArrayBuffer>
function unshared(part: JsonPart): string | Uint8Array<ArrayBuffer>
function unshared(part: JsonPart): string | Uint8Array<ArrayBuffer> {
  if (typeof part === 'string') return part
  const { buffer, byteOffset, length } = part
  return buffer instanceof ArrayBuffer ? new Uint8Array(buffer, byteOffset, length) : new Uint8Array(part)
}

/** Converts parts group by group, and lets other work run in between. */
async function inTurns<Group>(
  parts: readonly JsonPart[],
  convert: (group: JsonPart[]) => Group,
): Promise<Group[]> {
  const groups: Group[] = []
  let group: JsonPart[] = []
  let length = 0
  for (const part of parts) {
    group.push(part)
    length += part.length
    if (length < TURN) continue
    groups.push(convert(group))
    group = []
    length = 0
    await breathe()
  }
  return [...groups, convert(group)]
}

function toPieces(parts: readonly JsonPart[]): Bytes[] {
  const encoder = new TextEncoder()
  const pieces: Bytes[] = []
  let text = ''
  const add = (bytes: Bytes) => {
    for (let at = 0; at < bytes.length; at += PIECE) pieces.push(bytes.subarray(at, at + PIECE))
  }
  const flush = () => {
    add(encoder.encode(text))
    text = ''
  }
  for (const part of parts) {
    if (typeof part === 'string') text += part
    else {
      flush()
      add(unshared(part))
    }
    if (text.length >= PIECE) flush()
  }
  flush()
  return pieces
}

function toStream(pieces: Bytes[]): OutgoingBody {
  const length = pieces.reduce((sum, { length }) => sum + length, 0)
  const queue = withoutReadAhead(pieces)
  let next = 0
  const stream = new ReadableStream<Bytes>(
    {
      pull(controller) {
        const piece = queue[next]
        if (piece) controller.enqueue(piece)
        next += 1
        if (next >= queue.length) controller.close()
      },
    },
    { highWaterMark: 0 },
  )
  const fixed = typeof FixedLengthStream === 'undefined' ? undefined : new FixedLengthStream(length)
  return {
    body: fixed ? stream.pipeThrough(fixed) : stream,
    headers: { 'content-length': String(length) },
    isWithheld: () => next < queue.length,
  }
}

/** Puts the first bytes into pieces of their own: what a runtime reads before it connects is not the end. */
function withoutReadAhead([first, ...others]: Bytes[]): Bytes[] {
  if (!first) return []
  const single = Math.min(READ_AHEAD, first.length - 1)
  const bytes = Array.from({ length: single }, (_, at) => first.subarray(at, at + 1))
  return [...bytes, first.subarray(single), ...others]
}
