/**
 * The one client for calls that leave the host: a deadline, no redirects, capped answers, retries only where
 * they are safe, and failures that say whether the call may have taken effect.
 *
 * @module
 */

import { isIntegrationError } from '../errors.ts'
import { type HttpAnswer, readAnswer } from './response.ts'
import { HttpFailure, interrupted, toFailure } from './failure.ts'

export { type HttpAnswer, readAnswer, toRefusal } from './response.ts'
export { HttpFailure, type HttpFailureKind, toFailure } from './failure.ts'
export { maskAddresses, type ProviderFacts, toProviderError, unknownOutcome } from './provider-error.ts'

/** Options of {@link createHttpClient}. */
export interface HttpClientOptions {
  /** Everything is sent below this URL, and nowhere else. */
  baseUrl: string
  /** Sent with every request. */
  headers?: Record<string, string> | undefined
  /** @default globalThis.fetch */
  fetch?: typeof fetch | undefined
  /**
   * Longest time for one try, in milliseconds.
   * @default 10_000
   */
  timeoutMs?: number | undefined
  /**
   * Tries in all, the first included.
   * @default 3
   */
  attempts?: number | undefined
  /**
   * Waits between two tries; tests pass one that does not.
   * @default a timer that the signal ends early
   */
  wait?: ((milliseconds: number, signal: AbortSignal) => Promise<void>) | undefined
}

/** One request. */
export interface HttpRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Below `baseUrl`, with a leading slash. */
  path: string
  /** Absent values are left out; lists become repeated parameters. */
  query?: Record<string, string | number | boolean | readonly string[] | undefined> | undefined
  /** The body, sent as JSON; or, where it is composed already, its text. */
  json?: unknown
  jsonText?: string | undefined
  headers?: Record<string, string> | undefined
  /** Ends the call at once. */
  signal?: AbortSignal | undefined
  /**
   * When all tries must be over, in milliseconds since 1970.
   * @default 30 seconds from now
   */
  deadline?: number | undefined
  /**
   * Whether sending it twice does no harm.
   * @default true for GET, PUT and DELETE
   */
  repeatable?: boolean | undefined
  /**
   * Longest answer, in bytes after decompression.
   * @default 1 MiB
   */
  maxBytes?: number | undefined
}

/** A function that sends requests below one base URL. */
export type HttpClient = (request: HttpRequest) => Promise<HttpAnswer>

const DEFAULT_DEADLINE_MS = 30_000
const DEFAULT_TIMEOUT_MS = 10_000
/** What a timer can count to; a longer one would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1
const DEFAULT_MAX_BYTES = 1024 * 1024
const REPEATABLE_STATUS = new Set([408, 429, 500, 502, 503, 504])
const FIRST_BACKOFF_MS = 200
const LONGEST_BACKOFF_MS = 2_000

/**
 * Makes a client for one base URL.
 *
 * A failed try is repeated where nothing can have happened (429, connection refused) or where repeating is
 * harmless (`repeatable`), with full jitter, and only while the deadline allows: a `Retry-After` beyond it
 * ends the call at once, so that the caller can pass it on.
 *
 * @returns a function that resolves with a 2xx answer
 * @throws {HttpFailure} for everything else
 */
export function createHttpClient(options: HttpClientOptions): HttpClient {
  const { attempts = 3, wait = pause } = options
  return async (request) => {
    const deadline = request.deadline ?? Date.now() + DEFAULT_DEADLINE_MS
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await attemptOnce(options, request, deadline)
      } catch (error) {
        if (!(error instanceof HttpFailure) || attempt >= attempts || !mayRepeat(error, request)) throw error
        const delay = error.retryAfter === undefined ? backoff(attempt) : error.retryAfter * 1000
        if (Date.now() + delay >= deadline) throw error
        await wait(
          delay,
          request.signal ?? AbortSignal.timeout(Math.min(deadline - Date.now(), LONGEST_TIMER_MS)),
        )
        if (request.signal?.aborted) throw interrupted(request.signal, error.sent)
      }
    }
  }
}

function mayRepeat(failure: HttpFailure, request: HttpRequest): boolean {
  if (failure.kind === 'aborted' || failure.kind === 'too_large') return false
  if (failure.status !== undefined && failure.kind === 'status' && !REPEATABLE_STATUS.has(failure.status))
    return false
  const repeatable = request.repeatable ?? (request.method !== 'POST' && request.method !== 'PATCH')
  return repeatable || failure.sent === 'no'
}

function backoff(attempt: number): number {
  return Math.random() * Math.min(LONGEST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** attempt)
}

async function attemptOnce(
  options: HttpClientOptions,
  request: HttpRequest,
  deadline: number,
): Promise<HttpAnswer> {
  const { signal: caller } = request
  if (caller?.aborted) throw interrupted(caller, 'no')
  const remaining = deadline - Date.now()
  if (remaining <= 0)
    throw new HttpFailure('timeout', 'The deadline passed before the call began.', { sent: 'no' })

  const controller = new AbortController()
  const end = () => controller.abort(caller?.reason)
  let timedOut = false
  const timer = setTimeout(
    () => {
      timedOut = true
      controller.abort(new DOMException('The time is over.', 'TimeoutError'))
    },
    Math.min(options.timeoutMs ?? DEFAULT_TIMEOUT_MS, remaining, LONGEST_TIMER_MS),
  )
  caller?.addEventListener('abort', end)
  let status: number | undefined
  try {
    const body = request.jsonText ?? (request.json === undefined ? null : JSON.stringify(request.json))
    // The two arguments as they are, also for an injected fetch: on Node a Request that is made of them first is
    // copied through a stream, which takes a third of the time of a call.
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
    return await readAnswer(response, request.maxBytes ?? DEFAULT_MAX_BYTES)
  } catch (error) {
    // An injected fetch may have decided by itself that the call must not leave.
    throw isIntegrationError(error) ? error : toFailure(error, status, caller, timedOut)
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

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
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
