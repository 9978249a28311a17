import { type CallbackOptions, IntegrationError, type Platform, type WriteResult } from '@org/core'
import { createHttpClient, type HttpAnswer, HttpFailure, type HttpRequest } from '@org/core/http'
import { deploymentRecord } from './schema.ts'

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
  /** Waits between two tries; tests pass one that does not. */
  wait?: ((milliseconds: number, signal: AbortSignal) => Promise<void>) | undefined
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
  const { baseUrl, token, fetch, timeoutMs = 15_000, wait } = options
  const http = createHttpClient({
    baseUrl,
    fetch,
    wait,
    attempts: 5,
    timeoutMs: Math.min(5_000, timeoutMs),
    headers: token ? { authorization: `Bearer ${token}` } : {},
  })

  /** @returns the answer, or `undefined` where the platform does not know the deployment */
  async function send(
    request: HttpRequest,
    what: string,
    { signal, idempotencyKey }: CallbackOptions = {},
  ): Promise<HttpAnswer | undefined> {
    const headers = idempotencyKey ? { 'idempotency-key': toHeaderValue(idempotencyKey) } : {}
    try {
      return await http({ ...request, headers, repeatable: true, signal, deadline: Date.now() + timeoutMs })
    } catch (error) {
      if (error instanceof HttpFailure && error.status === 404) return undefined
      throw unavailable(error, what)
    }
  }

  async function write(
    method: 'PUT' | 'POST',
    path: string,
    json: object,
    what: string,
    callback: CallbackOptions | undefined,
  ): Promise<WriteResult> {
    return (await send({ method, path, json }, what, callback)) ? 'accepted' : 'gone'
  }

  return {
    async getDeployment(id, callback) {
      const what = 'read the deployment'
      const answer = await send({ method: 'GET', path: pathOf(id) }, what, callback)
      if (!answer) return undefined
      const record = deploymentRecord.safeParse(answer.body)
      if (!record.success) throw unavailable(record.error, what)
      return record.data
    },
    setStatus: (id, status, callback) =>
      write('PUT', `${pathOf(id)}/status`, status, 'set the status', callback),
    appendLogs: (id, entries, callback) =>
      write('POST', `${pathOf(id)}/logs`, { entries }, 'write logs', callback),
    setOutputs: (id, outputs, callback) =>
      write('PUT', `${pathOf(id)}/outputs`, outputs, 'publish the outputs', callback),
    reportMetrics: (id, metrics, callback) =>
      write('POST', `${pathOf(id)}/metrics`, { metrics }, 'report metrics', callback),
    putDownload: (id, downloadId, files, callback) =>
      write(
        'PUT',
        `${pathOf(id)}/downloads/${encodeURIComponent(downloadId)}`,
        { files },
        'hand over the files',
        callback,
      ),
  }
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
