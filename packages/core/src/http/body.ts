/** The body of a request, in the form that the runtime sends at most once. */

/** A piece of JSON text, or the UTF-8 bytes of one. */
export type JsonPart = string | Uint8Array<ArrayBuffer>

/** A body for `fetch`. */
interface OutgoingBody {
  body: string | Blob | ReadableStream<Uint8Array<ArrayBuffer>> | null
  headers?: Record<string, string>
  /** Whether the runtime never asked for the end of the body: then no server can have acted on it. */
  isWithheld(): boolean
}

declare const Deno: unknown
declare const Bun: unknown
/** A stream of Workers, whose requests have a `content-length`. */
declare const FixedLengthStream:
  | (new (
      bytes: number,
    ) => TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>)
  | undefined

/** A longer text is encoded and sent in pieces. In UTF-16 code units. */
const LONGEST_TEXT = 1024 * 1024
/** Shorter texts share a piece, and longer bytes are cut into several. */
const PIECE_LENGTH = 256 * 1024
/** Workers read two pieces before they connect, other runtimes none or one. */
const READ_AHEAD = 2

/** Node gives up a connection after 10 seconds, as its coarse timer counts them, and says so. */
const SLOWEST_CONNECTION_MS = 12_000

/**
 * Makes a body of JSON text. Parts with bytes, and parts that are long in all, are not copied into one.
 *
 * @param limitMs the time limit of the request
 */
export function toBody(
  method: string,
  parts: readonly JsonPart[] | undefined,
  limitMs: number,
): OutgoingBody {
  // Deno's fetch repeats a request when a kept connection breaks, even a POST. It does not repeat one with a Blob.
  if (typeof Deno !== 'undefined') {
    const body = parts || method === 'POST' || method === 'PATCH' ? new Blob([...(parts ?? [])]) : null
    return { body, isWithheld: () => false }
  }
  if (!parts) return { body: null, isWithheld: () => false }
  // By a stream, the client learns whether a connection stood. Node says so itself, and is faster with texts.
  const isNode = typeof Bun === 'undefined' && typeof FixedLengthStream === 'undefined'
  const text = isNode && limitMs >= SLOWEST_CONNECTION_MS ? joinShort(parts) : undefined
  return text === undefined ? toStream(toPieces(parts)) : { body: text, isWithheld: () => false }
}

function joinShort(parts: readonly JsonPart[]): string | undefined {
  let text = ''
  for (const part of parts) {
    if (typeof part !== 'string' || text.length + part.length > LONGEST_TEXT) return undefined
    text += part
  }
  return text
}

function toPieces(parts: readonly JsonPart[]): Uint8Array<ArrayBuffer>[] {
  const encoder = new TextEncoder()
  const pieces: Uint8Array<ArrayBuffer>[] = []
  let text = ''
  const add = (bytes: Uint8Array<ArrayBuffer>) => {
    for (let at = 0; at < bytes.length; at += PIECE_LENGTH) pieces.push(bytes.subarray(at, at + PIECE_LENGTH))
  }
  const flush = () => {
    add(encoder.encode(text))
    text = ''
  }
  for (const part of parts) {
    if (typeof part === 'string') text += part
    else {
      flush()
      add(part)
    }
    if (text.length >= PIECE_LENGTH) flush()
  }
  flush()
  return pieces
}

function toStream(pieces: Uint8Array<ArrayBuffer>[]): OutgoingBody {
  const length = pieces.reduce((sum, { length }) => sum + length, 0)
  const queue = withoutReadAhead(pieces)
  let next = 0
  const stream = new ReadableStream<Uint8Array<ArrayBuffer>>(
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
function withoutReadAhead([first, ...others]: Uint8Array<ArrayBuffer>[]): Uint8Array<ArrayBuffer>[] {
  if (!first) return []
  const single = Math.min(READ_AHEAD, first.length - 1)
  const bytes = Array.from({ length: single }, (_, at) => first.subarray(at, at + 1))
  return [...bytes, first.subarray(single), ...others]
}
