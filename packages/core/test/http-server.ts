import { createHttpClient, type HttpClientOptions, HttpFailure, type HttpRequest } from '@org/core/http'
import { createEmulator, createFaults, serve } from '@org/core/testing'

/** A real server with faults on demand, and a client for it that never waits. */
export async function startServer() {
  const faults = createFaults()
  /** Path, query and body of each request, as they came. */
  const received: { target: string; text: string }[] = []
  const emulator = createEmulator({
    faults,
    handle: () => Response.json({ ok: true }, { headers: { 'x-request': '7' } }),
    details: ({ url, text, headers }) => {
      received.push({ target: url.pathname + url.search, text })
      return { headers }
    },
  })
  const server = await serve(emulator.fetch)
  const waits: number[] = []

  /** Makes one request, and records each wait of the client. */
  function request(wanted: Partial<HttpRequest> = {}, options: Partial<HttpClientOptions> = {}) {
    const wait = async (milliseconds: number) => void waits.push(milliseconds)
    const client = createHttpClient({ baseUrl: server.url, wait, ...options })
    return client({ method: 'GET', path: '/', ...wanted })
  }

  /** Makes a request that must fail. */
  async function failure(wanted: Partial<HttpRequest> = {}, options: Partial<HttpClientOptions> = {}) {
    const error: unknown = await request(wanted, options).catch((reason: unknown) => reason)
    if (error instanceof HttpFailure) return error
    throw new Error('Expected an HttpFailure.', { cause: error })
  }

  return {
    ...server,
    /** The same server without a socket, for tests that replace the timers. */
    inProcess: emulator.fetch,
    faults,
    received,
    calls: emulator.calls,
    waits,
    request,
    failure,
    reset() {
      faults.clear()
      for (const list of [received, emulator.calls, waits]) list.length = 0
    },
  }
}
