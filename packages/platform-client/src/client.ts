import {
  type CallbackOptions,
  type CallInit,
  IntegrationError,
  isIntegrationError,
  type Platform,
  type WriteResult,
} from '@org/core'
import { HttpFailure, readAnswer, toFailure, toRefusal } from '@org/core/http'
import ky, { type HTTPError, isHTTPError, isTimeoutError, type Options } from 'ky'
import { deploymentRecord } from './schema.ts'

const MAX_TRIES = 5
const LONGEST_BACKOFF_MS = 2_000
const REPEATABLE = [408, 429, 500, 502, 503, 504]
/** Of an answer. */
const MAX_BYTES = 1024 * 1024

/** Options of {@link createPlatformClient}. */
export interface PlatformClientOptions {
  /** Base URL of the platform's API (`PLATFORM_API_URL`). */
  baseUrl: string
  /** Sent as `Authorization: Bearer …` (`PLATFORM_API_TOKEN`). */
  token?: string | undefined
  /** @default globalThis.fetch */
  fetch?: typeof fetch | undefined
  /**
   * Longest time for one callback with all its tries, in milliseconds.
   * @default 15_000
   */
  timeoutMs?: number | undefined
  /**
   * The longest wait before the second try, in milliseconds; it doubles for each further one, up to 2 seconds.
   * @default 400
   */
  backoffMs?: number | undefined
}

/**
 * The `Platform` port over HTTP (contract §5). Every write carries its idempotency key and is repeated with
 * jittered back-off, because it does no harm twice.
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
    timeout: Math.min(5_000, timeoutMs),
  })

  /** @returns what the platform answered, or `undefined` where it does not know the deployment */
  async function send(
    path: string,
    request: Pick<Options, 'method' | 'json'>,
    what: string,
    { signal: caller, idempotencyKey, ensureHeld }: CallbackOptions = {},
  ): Promise<{ body: unknown } | undefined> {
    const deadline = Date.now() + timeoutMs
    const controller = new AbortController()
    const end = () => controller.abort(caller?.reason)
    let timedOut = false
    // Not AbortSignal.timeout, which would stay for the rest of its time with everything that it holds on to.
    const timer = setTimeout(() => {
      timedOut = true
      controller.abort(new DOMException('The time is over.', 'TimeoutError'))
    }, timeoutMs)
    if (caller?.aborted) end()
    caller?.addEventListener('abort', end)
    try {
      const response = await client(baseUrl.replace(/\/+$/, '') + path, {
        ...request,
        headers: idempotencyKey ? { 'idempotency-key': toHeaderValue(idempotencyKey) } : {},
        signal: controller.signal,
        async fetch(input, init) {
          ensureHeld?.()
          const call: CallInit = { ...init, ensureHeld }
          return (options.fetch ?? fetch)(input, call)
        },
        retry: {
          limit: MAX_TRIES - 1,
          methods: ['get', 'put', 'post'],
          statusCodes: REPEATABLE,
          afterStatusCodes: REPEATABLE,
          delay: (tries) => backoffMs * 2 ** (tries - 1),
          backoffLimit: LONGEST_BACKOFF_MS,
          jitter: true,
          // A platform that asks for more time than is left is not asked again: who called it can wait.
          shouldRetry: ({ error }) =>
            isHTTPError(error) ? fitsBefore(deadline, error) : !isIntegrationError(error),
        },
      })
      return await readAnswer(response, MAX_BYTES)
    } catch (error) {
      if (isIntegrationError(error)) throw error
      const failure = isHTTPError(error)
        ? toRefusal(error.response)
        : toFailure(error, undefined, caller, isTimeoutError(error) || timedOut)
      if (failure instanceof HttpFailure && failure.status === 404) return undefined
      throw unavailable(failure, what)
    } finally {
      clearTimeout(timer)
      caller?.removeEventListener('abort', end)
    }
  }

  async function write(
    method: 'put' | 'post',
    path: string,
    json: object,
    what: string,
    callback: CallbackOptions | undefined,
  ): Promise<WriteResult> {
    return (await send(path, { method, json }, what, callback)) ? 'accepted' : 'gone'
  }

  return {
    async getDeployment(id, callback) {
      const what = 'read the deployment'
      const answer = await send(pathOf(id), { method: 'get' }, what, callback)
      if (!answer) return undefined
      const record = deploymentRecord.safeParse(answer.body)
      if (!record.success) throw unavailable(record.error, what)
      return record.data
    },
    setStatus: (id, status, callback) =>
      write('put', `${pathOf(id)}/status`, status, 'set the status', callback),
    appendLogs: (id, entries, callback) =>
      write('post', `${pathOf(id)}/logs`, { entries }, 'write logs', callback),
    setOutputs: (id, outputs, callback) =>
      write('put', `${pathOf(id)}/outputs`, outputs, 'publish the outputs', callback),
    reportMetrics: (id, metrics, callback) =>
      write('post', `${pathOf(id)}/metrics`, { metrics }, 'report metrics', callback),
    putDownload: (id, downloadId, files, callback) =>
      write(
        'put',
        `${pathOf(id)}/downloads/${encodeURIComponent(downloadId)}`,
        { files },
        'hand over the files',
        callback,
      ),
  }
}

/** @returns `false` where the wait that is asked for is over too late; otherwise nothing is said about it */
function fitsBefore(deadline: number, { response }: HTTPError): false | undefined {
  const { retryAfter = 0 } = toRefusal(response)
  return Date.now() + retryAfter * 1000 >= deadline ? false : undefined
}

function pathOf(id: string): string {
  return `/deployments/${encodeURIComponent(id)}`
}

// An id may hold any character, a header only some.
function toHeaderValue(key: string): string {
  return key.replaceAll(/[^\x21-\x7e]+/g, encodeURIComponent)
}

function unavailable(cause: unknown, what: string): IntegrationError {
  const failure = cause instanceof HttpFailure ? cause : undefined
  const reason = failure?.message ?? 'Its answer does not fit.'
  return new IntegrationError('platform_unavailable', `The platform’s API could not ${what}: ${reason}`, {
    hint: hintFor(failure?.status),
    retryAfter: failure?.retryAfter,
    provider: { name: 'platform', status: failure?.status },
    cause,
  })
}

function hintFor(status: number | undefined): string | undefined {
  if (status === 401 || status === 403) return 'Check PLATFORM_API_TOKEN.'
  if (status === undefined) return 'Check PLATFORM_API_URL, and that the platform is up.'
  return undefined
}
