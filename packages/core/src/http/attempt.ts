/** One attempt of a call: a URL, a body that leaves once, and a time limit. */
import { nextTurn } from '../breathe.ts'
import { isIntegrationError } from '../errors.ts'
import {
  HttpFailure,
  type HttpResponse,
  interrupted,
  type JsonReader,
  readResponse,
  toHttpFailure,
} from './response.ts'

/** Where a client sends its requests, and how. */
export interface Connection {
  /** Every request goes below this URL. */
  baseUrl: string
  /** Sent with every request. */
  headers?: Record<string, string> | undefined
  /** Reads the responses. */
  readJson: JsonReader
  /** @default globalThis.fetch */
  fetch?: typeof fetch | undefined
}

/** One request. */
export interface HttpRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Below `baseUrl`, with a leading slash. */
  path: string
  /** Absent values are left out; lists become repeated parameters. */
  query?: Record<string, string | number | boolean | readonly string[] | undefined> | undefined
  /** The body, sent as JSON. */
  json?: unknown
  /** The body as text, instead of `json`: JSON, unless `headers` have another `content-type`. */
  body?: string | undefined
  headers?: Record<string, string> | undefined
  /** Longest response after decompression; 1 MiB by default. */
  maxBytes?: number | undefined
  /** Most values in the JSON of a response, keys not counted; 20,000 by default. */
  maxValues?: number | undefined
}

/** When an attempt must not leave any more, and when it ends. */
export interface AttemptLimits {
  /** Ends the attempt at once. */
  signal: AbortSignal | undefined
  /** When all attempts must be over, in milliseconds since 1970. */
  deadline: number
  /** Longest time for this one, in milliseconds. */
  attemptMs: number
  /** Marks the read of a gate for the transport, whose circuits let it pass. */
  isProbe?: boolean | undefined
  /** Throws if the request must not leave any more. A transport that can calls it again, right before the first byte. */
  beforeSend?: (() => void) | undefined
}

const DEFAULT_MAX_BYTES = 1024 * 1024
/** The longest time that a timer takes; a longer one would fire at once. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1

/**
 * Sends a request once, and follows no redirect.
 *
 * @returns a 2xx response
 * @throws {HttpFailure} for everything else
 */
export async function attempt(
  connection: Connection & { isOwnForm: (body: unknown) => boolean },
  request: HttpRequest,
  { signal: caller, deadline, attemptMs, isProbe, beforeSend }: AttemptLimits,
): Promise<HttpResponse> {
  const limitMs = Math.min(attemptMs, deadline - Date.now(), LONGEST_TIMER_MS)
  if (limitMs <= 0)
    throw new HttpFailure('timeout', 'The deadline passed before the call began.', { effect: 'none' })
  const text = request.json === undefined ? request.body : JSON.stringify(request.json)
  const { body, headers: length, isWithheld } = toBody(request.method, text)
  const headers = {
    accept: 'application/json',
    ...(text !== undefined && { 'content-type': 'application/json' }),
    ...connection.headers,
    ...request.headers,
    ...length,
  }
  if (caller?.aborted) throw interrupted(caller, 'none')
  beforeSend?.()

  const controller = new AbortController()
  const end = () => controller.abort(caller?.reason)
  let timedOut = false
  const onTime = () => {
    timedOut = true
    controller.abort(new DOMException('The time is over.', 'TimeoutError'))
  }
  const timer = setTimeout(onTime, limitMs)
  caller?.addEventListener('abort', end)
  let status: number | undefined
  let sending: Promise<Response> | undefined
  try {
    const url = toUrl(connection.baseUrl, request)
    // It throws for a value that no runtime sends.
    new Headers(headers)
    const init: RequestInit & { duplex?: 'half' } & Pick<AttemptLimits, 'isProbe' | 'beforeSend'> = {
      method: request.method,
      headers,
      body,
      ...(length && { duplex: 'half' }),
      ...(isProbe && { isProbe }),
      ...(beforeSend && { beforeSend }),
      redirect: 'manual',
      signal: controller.signal,
    }
    // Not a Request: on Node it is copied through a stream, which takes a third of the time of a call.
    sending = (connection.fetch ?? fetch)(url, init)
    const response = await inTime(sending, controller.signal)
    status = response.status
    const { readJson, isOwnForm } = connection
    const { maxBytes = DEFAULT_MAX_BYTES, maxValues } = request
    return await readResponse(response, { readJson, maxBytes, maxValues, isOwnForm })
  } catch (error) {
    // An injected fetch may have decided that the call must not leave. The caller's reason to end it says nothing of that.
    if (isIntegrationError(error) && error !== controller.signal.reason) throw error
    throw toHttpFailure(error, status, caller, timedOut, !sending || isWithheld?.())
  } finally {
    clearTimeout(timer)
    caller?.removeEventListener('abort', end)
  }
}

/** Ends with the signal, also if an injected `fetch` ignores it. */
function inTime(sending: Promise<Response>, signal: AbortSignal): Promise<Response> {
  return new Promise((resolve, reject) => {
    // Not at once: the transport may know that nothing was sent.
    signal.addEventListener('abort', () => nextTurn().then(() => reject(signal.reason)))
    sending.then(resolve, reject)
  })
}

/** No escape keeps such an id in its place: URLs read `%2e` as a dot. */
const DOT_SEGMENT = /(?:^|[/\\])(?:\.|%2e){1,2}(?=$|[/\\?#])/i

/** @throws {TypeError} if a runtime refuses the URL, or the path leads elsewhere */
function toUrl(baseUrl: string, { path, query = {} }: HttpRequest): string {
  if (DOT_SEGMENT.test(path)) throw new TypeError('The path has a segment “.” or “..”.')
  // A deployment brings the URL: without the look behind, a pattern for slashes takes quadratic time.
  const url = new URL(`${baseUrl.replace(/(?<!\/)\/+$/, '')}/${path.replace(/^\/+/, '')}`)
  if (!/^https?:$/.test(url.protocol)) throw new TypeError('The URL is none of HTTP.')
  if (url.username || url.password) throw new TypeError('The URL has a user or a password.')
  for (const [name, value = []] of Object.entries(query))
    for (const item of [value].flat()) url.searchParams.append(name, String(item))
  return url.href
}

/** Waits until the time is over or the signal fires. */
export function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, Math.max(0, milliseconds))
    function done() {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    if (signal.aborted) done()
    else signal.addEventListener('abort', done)
  })
}

/** A body for `fetch`. */
interface OutgoingBody {
  body: string | Blob | ReadableStream | null
  headers?: Record<string, string>
  /** Whether the runtime never asked for the end of the body: then no server can have acted on it. */
  isWithheld?(): boolean
}

declare const Deno: unknown
declare const Bun: unknown
/** A stream of Workers, whose requests have a `content-length`. */
declare const FixedLengthStream: (new (bytes: number) => TransformStream) | undefined

/** Workers read two pieces before they connect, other runtimes none or one. */
const READ_AHEAD = 2

/** Makes a body of a text, in the form that the runtime sends at most once. */
function toBody(method: string, text: string | undefined): OutgoingBody {
  if (typeof Deno !== 'undefined') {
    // Deno's fetch repeats a request when a kept connection breaks, even a POST. It does not repeat one with a Blob.
    const hasBlob = text !== undefined || method === 'POST' || method === 'PATCH'
    return { body: hasBlob ? new Blob([text ?? '']) : null }
  }
  // By a stream, the client learns whether a connection stood. Node says so itself.
  const isNode = typeof Bun === 'undefined' && typeof FixedLengthStream === 'undefined'
  return text === undefined || isNode ? { body: text ?? null } : toStream(new TextEncoder().encode(text))
}

function toStream(bytes: Uint8Array): OutgoingBody {
  let taken = 0
  const stream = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        // A runtime reads the first pieces before it connects, so the last one must come after them.
        const end = taken < READ_AHEAD ? taken + 1 : bytes.length
        controller.enqueue(bytes.subarray(taken, end))
        taken = end
        if (taken >= bytes.length) controller.close()
      },
    },
    { highWaterMark: 0 },
  )
  const fixed = typeof FixedLengthStream === 'undefined' ? undefined : new FixedLengthStream(bytes.length)
  return {
    body: fixed ? stream.pipeThrough(fixed) : stream,
    headers: { 'content-length': String(bytes.length) },
    isWithheld: () => taken < bytes.length,
  }
}
