/**
 * The one client for calls that leave the host: a deadline, no redirects, capped answers, retries only where
 * they are safe, and failures that say whether the call may have taken effect.
 *
 * @module
 */

import { isIntegrationError } from './errors.ts'
import { HttpFailure, interrupted, toFailure } from './http-failure.ts'

export { HttpFailure, type HttpFailureKind } from './http-failure.ts'
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

/** A 2xx answer. */
export interface HttpAnswer {
  status: number
  headers: Headers
  /** The parsed JSON; `undefined` where the answer was empty. */
  body: unknown
}

/** A function that sends requests below one base URL. */
export type HttpClient = (request: HttpRequest) => Promise<HttpAnswer>

const DEFAULT_DEADLINE_MS = 30_000
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
        await wait(delay, request.signal ?? AbortSignal.timeout(deadline - Date.now()))
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

// ky's own retries are off: they would have to decide before the body is read, clone every request for the
// case, and shorten a Retry-After instead of giving up.
async function attemptOnce(
  options: HttpClientOptions,
  request: HttpRequest,
  deadline: number,
): Promise<HttpAnswer> {
  if (request.signal?.aborted) throw interrupted(request.signal, 'no')
  const remaining = deadline - Date.now()
  if (remaining <= 0)
    throw new HttpFailure('timeout', 'The deadline passed before the call began.', { sent: 'no' })

  const timer = AbortSignal.timeout(Math.min(options.timeoutMs ?? 10_000, remaining))
  const signal = request.signal ? AbortSignal.any([request.signal, timer]) : timer
  const { default: ky } = await import('ky')
  let status: number | undefined
  try {
    const response = await ky(request.path.replace(/^\//, ''), {
      prefix: options.baseUrl,
      method: request.method,
      headers: {
        accept: 'application/json',
        ...(request.jsonText === undefined ? {} : { 'content-type': 'application/json' }),
        ...options.headers,
        ...request.headers,
      },
      searchParams: toSearchParams(request.query),
      redirect: 'manual',
      retry: 0,
      signal,
      throwHttpErrors: false,
      timeout: false,
      ...(request.json === undefined ? {} : { json: request.json }),
      ...(request.jsonText === undefined ? {} : { body: request.jsonText }),
      ...(options.fetch === undefined ? {} : { fetch: options.fetch }),
    })
    status = response.status
    const text = await readText(response, request.maxBytes ?? DEFAULT_MAX_BYTES)
    return understand(response, text)
  } catch (error) {
    // An injected fetch may have decided by itself that the call must not leave.
    throw isIntegrationError(error) ? error : toFailure(error, status, request.signal, timer)
  }
}

function toSearchParams(query: HttpRequest['query'] = {}): URLSearchParams {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue
    for (const item of Array.isArray(value) ? value : [value]) parameters.append(name, String(item))
  }
  return parameters
}

/** Reads a body up to a limit, counted as it arrives, so that a compressed bomb is cut off. */
async function readText(response: Response, maxBytes: number): Promise<string> {
  if (!response.body) return ''
  const decoder = new TextDecoder()
  let text = ''
  let size = 0
  for await (const chunk of response.body) {
    size += chunk.byteLength
    if (size > maxBytes) {
      const sent = response.status >= 300 && response.status < 500 ? 'no' : 'unknown'
      throw new HttpFailure('too_large', `The answer is longer than ${maxBytes} bytes.`, {
        sent,
        status: response.status,
      })
    }
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}

function understand(response: Response, text: string): HttpAnswer {
  const parsed = parseJson(text)
  if (!response.ok) {
    throw new HttpFailure('status', `The server answered with status ${response.status}.`, {
      // A refusal below 500 was decided before anything was done; 408 is a time-out by another name.
      sent: response.status < 500 && response.status !== 408 ? 'no' : 'unknown',
      status: response.status,
      body: parsed.ok ? parsed.value : undefined,
      retryAfter: readRetryAfter(response.headers),
    })
  }
  if (!parsed.ok) {
    throw new HttpFailure('malformed', 'The server answered with success, but not with whole JSON.', {
      sent: 'unknown',
      status: response.status,
    })
  }
  return { status: response.status, headers: response.headers, body: parsed.value }
}

function parseJson(text: string): { ok: true; value: unknown } | { ok: false } {
  if (text === '') return { ok: true, value: undefined }
  try {
    return { ok: true, value: JSON.parse(text) }
  } catch {
    return { ok: false }
  }
}

/** `Retry-After` in seconds, from either of its forms (RFC 9110 §10.2.3). */
function readRetryAfter(headers: Headers): number | undefined {
  const value = headers.get('retry-after')?.trim()
  if (!value) return undefined
  if (/^\d{1,9}$/.test(value)) return Number(value)
  const date = Date.parse(value)
  return Number.isNaN(date) ? undefined : Math.max(0, Math.ceil((date - Date.now()) / 1000))
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
