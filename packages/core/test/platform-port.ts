import * as z from 'zod'
import { type CallbackOptions, IntegrationError, type Platform, type WriteResult } from '../src/index.ts'

const record = z.object({
  id: z.string(),
  inputs: z.record(z.string(), z.unknown()),
  outputs: z.record(z.string(), z.unknown()),
})

/** The platform port, straight onto an emulator: one try, so that a fault is one call. */
export function platformOver(fetch: typeof globalThis.fetch): Platform {
  async function send(
    method: string,
    path: string,
    options: CallbackOptions = {},
    json?: object,
  ): Promise<Response | undefined> {
    const unavailable = (cause?: unknown) =>
      new IntegrationError('platform_unavailable', 'The platform is away.', { cause })
    const response = await fetch(`http://platform.test/deployments/${path}`, {
      method,
      headers: {
        ...(json ? { 'content-type': 'application/json' } : {}),
        ...(options.idempotencyKey ? { 'idempotency-key': options.idempotencyKey } : {}),
      },
      body: json ? JSON.stringify(json) : null,
      signal: options.signal ?? null,
    }).catch((cause: unknown) => {
      throw unavailable(cause)
    })
    if (response.status === 404) return undefined
    if (!response.ok) throw unavailable(await response.text())
    return response
  }

  const write = async (
    method: string,
    path: string,
    options: CallbackOptions | undefined,
    json: object,
  ): Promise<WriteResult> => ((await send(method, path, options, json)) ? 'accepted' : 'gone')

  return {
    async getDeployment(id, options) {
      const answer = await send('GET', id, options)
      return answer && record.parse(await answer.json())
    },
    setStatus: (id, status, options) => write('PUT', `${id}/status`, options, status),
    appendLogs: (id, entries, options) => write('POST', `${id}/logs`, options, { entries }),
    setOutputs: (id, outputs, options) => write('PUT', `${id}/outputs`, options, outputs),
    reportMetrics: (id, metrics, options) => write('POST', `${id}/metrics`, options, { metrics }),
    putDownload: (id, download, files, options) =>
      write('PUT', `${id}/downloads/${download}`, options, { files }),
  }
}
