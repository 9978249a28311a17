import * as z from 'zod'
import type { CallbackOptions, Platform, WriteResult } from '../contract/platform.ts'
import { IntegrationError, isIntegrationError } from '../errors.ts'

const record = z.object({
  id: z.string(),
  inputs: z.record(z.string(), z.unknown()),
  outputs: z.record(z.string(), z.unknown()),
  status: z.string().optional(),
})

/**
 * The `Platform` port onto the `fetch` of an emulator. It makes one attempt per callback, so that one fault is
 * one failed callback.
 *
 * @throws {IntegrationError} `platform_unavailable`, from every call that neither succeeds nor gets a 404
 */
export function connectPlatform(fetch: typeof globalThis.fetch): Platform {
  async function send(method: string, path: string[], options: CallbackOptions = {}, json?: object) {
    const { idempotencyKey, signal = null, wrapFetch = (transport) => transport } = options
    const headers = {
      ...(json ? { 'content-type': 'application/json' } : {}),
      ...(idempotencyKey ? { 'idempotency-key': idempotencyKey } : {}),
    }
    const body = json ? JSON.stringify(json) : null
    const url = `http://platform.test/deployments/${path.map(encodeURIComponent).join('/')}`
    const fail = (cause: unknown): never => {
      if (isIntegrationError(cause)) throw cause
      const message = 'The platform did not accept the callback.'
      throw new IntegrationError('platform_unavailable', message, { cause })
    }
    const response = await wrapFetch(fetch)(url, { method, headers, body, signal }).catch(fail)
    if (response.ok) return response
    return response.status === 404 ? undefined : fail(`Status ${response.status}: ${await response.text()}`)
  }

  const write = async (...call: Parameters<typeof send>): Promise<WriteResult> =>
    (await send(...call)) ? 'accepted' : 'gone'

  return {
    async getDeployment(id, options) {
      const response = await send('GET', [id], options)
      return response && record.parse(await response.json())
    },
    setStatus: (id, status, options) => write('PUT', [id, 'status'], options, status),
    appendLogs: (id, entries, options) => write('POST', [id, 'logs'], options, { entries }),
    setOutputs: (id, outputs, options) => write('PUT', [id, 'outputs'], options, outputs),
    reportMetrics: (id, metrics, options) => write('POST', [id, 'metrics'], options, { metrics }),
    putDownload: (id, download, files, options) =>
      write('PUT', [id, 'downloads', download], options, { files }),
  }
}
