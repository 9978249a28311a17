import * as z from 'zod'
import type { CallbackOptions, Platform, WriteResult } from '../contract/platform.ts'
import { IntegrationError } from '../errors.ts'

const record = z.object({
  id: z.string(),
  inputs: z.record(z.string(), z.unknown()),
  outputs: z.record(z.string(), z.unknown()),
  status: z.string().optional(),
})

/**
 * The `Platform` port onto an emulator's `fetch`, for tests that are not about the platform: one try for each
 * callback, so that a fault is one call.
 *
 * @throws {IntegrationError} `platform_unavailable`, from every call that is neither taken nor answered with 404
 *
 * @example
 * ```ts
 * const platform = createPlatformEmulator()
 * const handle = createHandler({ platform: connectPlatform(platform.fetch) })
 * ```
 */
export function connectPlatform(fetch: typeof globalThis.fetch): Platform {
  async function send(
    method: string,
    path: string,
    { idempotencyKey, signal }: CallbackOptions = {},
    json?: object,
  ): Promise<Response | undefined> {
    const init: RequestInit = {
      method,
      headers: {
        ...(json ? { 'content-type': 'application/json' } : {}),
        ...(idempotencyKey ? { 'idempotency-key': idempotencyKey } : {}),
      },
      body: json ? JSON.stringify(json) : null,
      signal: signal ?? null,
    }
    const response = await fetch(`http://platform.test/deployments/${path}`, init).catch((cause: unknown) => {
      throw unavailable('could not be reached.', cause)
    })
    if (response.status === 404) return undefined
    if (!response.ok) throw unavailable(`answered with status ${response.status}.`, await response.text())
    return response
  }

  const write = async (
    method: 'PUT' | 'POST',
    path: string,
    options: CallbackOptions | undefined,
    json: object,
  ): Promise<WriteResult> => ((await send(method, path, options, json)) ? 'accepted' : 'gone')

  return {
    async getDeployment(id, options) {
      const answer = await send('GET', encodeURIComponent(id), options)
      return answer && record.parse(await answer.json())
    },
    setStatus: (id, status, options) => write('PUT', `${encodeURIComponent(id)}/status`, options, status),
    appendLogs: (id, entries, options) =>
      write('POST', `${encodeURIComponent(id)}/logs`, options, { entries }),
    setOutputs: (id, outputs, options) => write('PUT', `${encodeURIComponent(id)}/outputs`, options, outputs),
    reportMetrics: (id, metrics, options) =>
      write('POST', `${encodeURIComponent(id)}/metrics`, options, { metrics }),
    putDownload: (id, download, files, options) =>
      write('PUT', `${encodeURIComponent(id)}/downloads/${encodeURIComponent(download)}`, options, { files }),
  }
}

function unavailable(what: string, cause: unknown): IntegrationError {
  return new IntegrationError('platform_unavailable', `The platform ${what}`, { cause })
}
