import type { CallbackOptions, Platform, WriteResult } from '@org/core'
import { IntegrationError, isIntegrationError, shortageOf } from '@org/core/errors'
import { HttpFailure, readJson, readResponse, toHttpFailure, toStatusFailure } from '@org/core/http'
import ky, { type HTTPError, isHTTPError, isTimeoutError, type Options } from 'ky'
import { deploymentRecord } from './schema.ts'

const MAX_ATTEMPTS = 5
const ATTEMPT_TIMEOUT_MS = 5_000
const MAX_BACKOFF_MS = 2_000
const MAX_RESPONSE_BYTES = 1024 * 1024
const RETRYABLE_STATUSES = [408, 429, ...Array.from({ length: 100 }, (_, index) => 500 + index)]

/** Options of {@link createPlatformClient}. */
export interface PlatformClientOptions {
  /** Base URL of the platform's API (`PLATFORM_API_URL`). */
  baseUrl: string
  /** Sent as `Authorization: Bearer …` (`PLATFORM_API_TOKEN`). */
  token?: string | undefined
  /** @default globalThis.fetch */
  fetch?: typeof fetch | undefined
  /** Wraps each attempt with its response, for example in a circuit. An `IntegrationError` of it ends the call. */
  wrapAttempt?: ((attempt: typeof fetch) => typeof fetch) | undefined
  /**
   * Longest time for one callback with all its attempts, in milliseconds.
   * @default 15_000
   */
  timeoutMs?: number | undefined
  /**
   * Longest wait before the second attempt, in milliseconds. It doubles for each further attempt, up to 2 seconds.
   * @default 400
   */
  backoffMs?: number | undefined
}

/**
 * Makes a client that implements the `Platform` port over HTTP. It sends each write with its idempotency key, and
 * retries all calls with jittered back-off: the platform applies a key once.
 *
 * @returns a client whose calls throw an `IntegrationError` with the code `platform_unavailable`
 *
 * @example
 * ```ts
 * const platform = createPlatformClient({ baseUrl: 'https://platform.example.com/api' })
 * await platform.setStatus('dep_123', { status: 'running' }, { idempotencyKey: 'evt_1:running' })
 * ```
 */
export function createPlatformClient(options: PlatformClientOptions): Platform {
  const { baseUrl, token, timeoutMs = 15_000, backoffMs = 400 } = options
  const client = ky.create({
    headers: { accept: 'application/json', ...(token ? { authorization: `Bearer ${token}` } : {}) },
    redirect: 'manual',
    timeout: ATTEMPT_TIMEOUT_MS,
    totalTimeout: timeoutMs,
  })

  /**
   * @param read checks the JSON of a 2xx response
   * @returns what `read` returns; `undefined` if the platform does not know the deployment
   */
  async function send<Result>(
    path: string,
    request: Pick<Options, 'method' | 'json'>,
    action: string,
    { signal, idempotencyKey, wrapFetch }: CallbackOptions = {},
    read: (body: unknown) => Result,
  ): Promise<Result | undefined> {
    const deadline = Date.now() + timeoutMs
    const { fetch: transport = fetch, wrapAttempt = (attempt) => attempt } = options
    let result: Result | undefined
    // The body is part of the attempt: of its time limit, its retries, and what an observer counts.
    const attempt = wrapAttempt(async (input, init) => {
      const response = await transport(input, init)
      if (response.ok)
        result = read((await readResponse(response, { readJson, maxBytes: MAX_RESPONSE_BYTES })).body)
      return response
    })
    try {
      await client(baseUrl.replace(/(?<!\/)\/+$/, '') + path, {
        ...request,
        headers: idempotencyKey ? { 'idempotency-key': toHeaderValue(idempotencyKey) } : {},
        ...(signal ? { signal } : {}),
        fetch: wrapFetch?.(attempt) ?? attempt,
        retry: {
          limit: MAX_ATTEMPTS - 1,
          methods: ['get', 'put', 'post'],
          statusCodes: RETRYABLE_STATUSES,
          afterStatusCodes: RETRYABLE_STATUSES,
          delay: (attempt) => backoffMs * 2 ** (attempt - 1),
          backoffLimit: MAX_BACKOFF_MS,
          jitter: true,
          shouldRetry: ({ error }) =>
            // An `HttpFailure` is a success that is not the right JSON, or too long.
            isHTTPError(error)
              ? waitFits(error, deadline)
              : !(isIntegrationError(error) || error instanceof HttpFailure),
        },
      })
      return result
    } catch (error) {
      if (isIntegrationError(error)) throw error
      if (isHTTPError(error) && isGone(error)) return undefined
      throw unavailable(describeFailure(error, signal), action)
    }
  }

  async function write(
    method: 'put' | 'post',
    path: string,
    json: object,
    action: string,
    callback: CallbackOptions | undefined,
  ): Promise<WriteResult> {
    return (await send(path, { method, json }, action, callback, () => 'accepted' as const)) ?? 'gone'
  }

  return {
    getDeployment: (id, callback) =>
      send(pathOf(id), { method: 'get' }, 'read the deployment', callback, readDeployment),
    setStatus: (id, status, callback) =>
      write('put', `${pathOf(id)}/status`, status, 'set the status', callback),
    appendLogs: (id, entries, callback) =>
      write('post', `${pathOf(id)}/logs`, { entries }, 'write the logs', callback),
    setOutputs: (id, outputs, callback) =>
      write('put', `${pathOf(id)}/outputs`, outputs, 'publish the outputs', callback),
    reportMetrics: (id, metrics, callback) =>
      write('post', `${pathOf(id)}/metrics`, { metrics }, 'report the metrics', callback),
    putDownload: (id, downloadId, files, callback) => {
      const path = `${pathOf(id)}/downloads/${encodeURIComponent(downloadId)}`
      return write('put', path, { files }, 'upload the files', callback)
    },
  }
}

function readDeployment(body: unknown) {
  const { data, error } = deploymentRecord.safeParse(body)
  if (data) return data
  const message = 'The platform’s response has the wrong shape.'
  throw new HttpFailure('malformed', message, { effect: 'none', status: 200, cause: error })
}

/**
 * @returns `false` if the platform asks for a longer wait than the call has time for; otherwise `undefined`, which
 * leaves the decision to ky
 */
function waitFits({ response }: HTTPError, deadline: number): false | undefined {
  const { retryAfter = 0 } = toStatusFailure(response)
  return Date.now() + retryAfter * 1000 >= deadline ? false : undefined
}

/** A proxy in front of the platform answers 404 too, but not with JSON. */
function isGone({ response, data }: HTTPError): boolean {
  return response.status === 404 && typeof data === 'object' && data !== null
}

function describeFailure(error: unknown, signal: AbortSignal | undefined): HttpFailure {
  if (isHTTPError(error)) return toStatusFailure(error.response)
  const timedOut = isTimeoutError(error)
  // ky's time-out holds the request with its token, and a cause may be logged.
  return toHttpFailure(timedOut ? undefined : error, undefined, signal, timedOut)
}

function pathOf(id: string): string {
  return `/deployments/${encodeURIComponent(id)}`
}

// An id may hold any character; a header may not.
function toHeaderValue(key: string): string {
  return key.replaceAll(/[^\x21-\x7e]+/g, encodeURIComponent)
}

function unavailable(cause: HttpFailure, action: string): IntegrationError {
  const { message, retryAfter, status } = cause
  return new IntegrationError('platform_unavailable', `Could not ${action} on the platform: ${message}`, {
    hint: hintFor(cause),
    retryAfter,
    provider: { name: 'platform', status },
    cause,
  })
}

function hintFor({ status, cause }: HttpFailure): string | undefined {
  const shortage = shortageOf(cause)
  if (shortage) return `This host itself has no descriptor, memory or disk left for the call (${shortage}).`
  if (status === 401 || status === 403) return 'Check PLATFORM_API_TOKEN.'
  if (status === undefined) return 'Check PLATFORM_API_URL, and that the platform is up.'
  return status === 404 ? 'Check PLATFORM_API_URL: the 404 response has no JSON body.' : undefined
}
