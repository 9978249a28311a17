/** The body of a request, in the form that the runtime sends at most once. */

/** A body for `fetch`. */
interface OutgoingBody {
  body: string | Blob | ReadableStream | null
  headers?: Record<string, string>
  /** Whether the runtime never asked for the end of the body: then no server can have acted on it. */
  isWithheld(): boolean
}

declare const Deno: unknown
declare const Bun: unknown
/** A stream of Workers, whose requests have a `content-length`. */
declare const FixedLengthStream: (new (bytes: number) => TransformStream) | undefined

/** Workers read two pieces before they connect, other runtimes none or one. */
const READ_AHEAD = 2

/** Makes a body of a text. */
export function toBody(method: string, text: string | undefined): OutgoingBody {
  if (typeof Deno !== 'undefined') {
    // Deno's fetch repeats a request when a kept connection breaks, even a POST. It does not repeat one with a Blob.
    const hasBlob = text !== undefined || method === 'POST' || method === 'PATCH'
    return whole(hasBlob ? new Blob([text ?? '']) : null)
  }
  // By a stream, the client learns whether a connection stood. Node says so itself.
  const isNode = typeof Bun === 'undefined' && typeof FixedLengthStream === 'undefined'
  return text === undefined || isNode ? whole(text ?? null) : toStream(new TextEncoder().encode(text))
}

function whole(body: OutgoingBody['body']): OutgoingBody {
  return { body, isWithheld: () => false }
}

function toStream(bytes: Uint8Array): OutgoingBody {
  // A runtime reads the first pieces before it connects, so the last one must come after them.
  const single = Math.min(READ_AHEAD, bytes.length - 1)
  const pieces = Array.from({ length: single }, (_, at) => bytes.subarray(at, at + 1))
  pieces.push(bytes.subarray(single))
  let next = 0
  const stream = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const piece = pieces[next]
        if (piece) controller.enqueue(piece)
        next += 1
        if (next >= pieces.length) controller.close()
      },
    },
    { highWaterMark: 0 },
  )
  const fixed = typeof FixedLengthStream === 'undefined' ? undefined : new FixedLengthStream(bytes.length)
  return {
    body: fixed ? stream.pipeThrough(fixed) : stream,
    headers: { 'content-length': String(bytes.length) },
    isWithheld: () => next < pieces.length,
  }
}
