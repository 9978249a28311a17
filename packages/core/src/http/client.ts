import { isIntegrationError } from '../errors.ts'
import { HttpFailure, interrupted, toHttpFailure } from './failure.ts'
import { type HttpResponse, readResponse } from './response.ts'
import { backoff, isRetryable } from './retry.ts'

/** Options of {@link createHttpClient}. */
export interface HttpClientOptions {
  /** Every request goes below this URL. */
  baseUrl: string
  /** Sent with every request. */
  headers?: Record<string, string> | undefined
  /** @default globalThis.fetch */
  fetch?: typeof fetch | undefined
  /** Attempts in all, the first included; 3 by default. */
  attempts?: number | undefined
  /** Waits between two attempts, by default with a timer that the signal ends early. */
  wait?: ((milliseconds: number, signal: AbortSignal) => Promise<void>) | undefined
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
  /** The body as JSON text, instead of `json`. */
  jsonText?: string | undefined
  jsonParts?: readonly (string | Uint8Array<ArrayBuffer>)[] | undefined
  headers?: Record<string, string> | undefined
  /** Ends the call at once. */
  signal?: AbortSignal | undefined
  /** When all attempts must be over, in milliseconds since 1970; 30 seconds from now by default. */
  deadline?: number | undefined
  /** Attempts in all, the first included; by default those of the client. */
  attempts?: number | undefined
  /** Longest time for one attempt; 10,000 by default. */
  attemptMs?: number | undefined
  /** Whether sending it twice is harmless; by default it is for GET, PUT and DELETE. */
  repeatable?: boolean | undefined
  /** Longest response after decompression; 1 MiB by default. */
  maxBytes?: number | undefined
}

/** Sends requests below one base URL. */
export type HttpClient = (request: HttpRequest) => Promise<HttpResponse>

const DEFAULT_DEADLINE_MS = 30_000
const DEFAULT_MAX_BYTES = 1024 * 1024
/** The longest time that a timer takes; a longer one would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

/**
 * Makes a client for one base URL. It follows no redirect, and retries by the rules of `isRetryable` while the
 * deadline allows. A `Retry-After` beyond the deadline ends the call at once, so that the caller can pass it on.
 *
 * @returns a function that resolves with a 2xx response
 * @throws {HttpFailure} for everything else
 */
export function createHttpClient(options: HttpClientOptions): HttpClient {
  const { wait = pause } = options
  return async (request) => {
    const { attempts = options.attempts ?? 3 } = request
    const deadline = request.deadline ?? Date.now() + DEFAULT_DEADLINE_MS
    const repeatable = request.repeatable ?? (request.method !== 'POST' && request.method !== 'PATCH')
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await attemptOnce(options, request, deadline)
      } catch (error) {
        if (!(error instanceof HttpFailure) || attempt >= attempts || !isRetryable(error, repeatable))
          throw error
        const delay = error.retryAfter === undefined ? backoff(attempt) : error.retryAfter * 1000
        if (Date.now() + delay >= deadline) throw error
        const remaining = Math.min(deadline - Date.now(), LONGEST_TIMER_MS)
        await wait(delay, request.signal ?? AbortSignal.timeout(remaining))
        if (request.signal?.aborted) throw interrupted(request.signal, error.effect)
      }
    }
  }
}

async function attemptOnce(
  options: HttpClientOptions,
  request: HttpRequest,
  deadline: number,
): Promise<HttpResponse> {
  const { signal: caller, attemptMs = 10_000, maxBytes = DEFAULT_MAX_BYTES } = request
  if (caller?.aborted) throw interrupted(caller, 'none')
  const remaining = deadline - Date.now()
  if (remaining <= 0)
    throw new HttpFailure('timeout', 'The deadline passed before the call began.', { effect: 'none' })

  const controller = new AbortController()
  const end = () => controller.abort(caller?.reason)
  let timedOut = false
  const timer = setTimeout(
    () => {
      timedOut = true
      controller.abort(new DOMException('The time is over.', 'TimeoutError'))
    },
    Math.min(attemptMs, remaining, LONGEST_TIMER_MS),
  )
  caller?.addEventListener('abort', end)
  let status: number | undefined
  try {
    const body = request.jsonParts?.join('') ?? request.jsonText ?? (request.json === undefined ? null : JSON.stringify(request.json))
    // Not a Request: on Node it is copied through a stream, which takes a third of the time of a call.
    const response = await (options.fetch ?? fetch)(toUrl(options.baseUrl, request), {
      method: request.method,
      headers: {
        accept: 'application/json',
        ...(body === null ? {} : { 'content-type': 'application/json' }),
        ...options.headers,
        ...request.headers,
      },
      body,
      redirect: 'manual',
      signal: controller.signal,
    })
    status = response.status
    return await readResponse(response, maxBytes)
  } catch (error) {
    // An injected fetch may have decided that the call must not leave.
    throw isIntegrationError(error) ? error : toHttpFailure(error, status, caller, timedOut)
  } finally {
    clearTimeout(timer)
    caller?.removeEventListener('abort', end)
  }
}

function toUrl(baseUrl: string, { path, query }: HttpRequest): string {
  const url = `${baseUrl.replace(/\/+$/, '')}/${path.replace(/^\/+/, '')}`
  if (!query) return url
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue
    for (const item of Array.isArray(value) ? value : [value]) parameters.append(name, String(item))
  }
  return parameters.size === 0 ? url : `${url}?${parameters}`
}

/** Waits until the time is over or the signal fires. */
export function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, milliseconds)
    function done() {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    if (signal.aborted) done()
    else signal.addEventListener('abort', done)
  })
}
