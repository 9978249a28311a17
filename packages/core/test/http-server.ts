import {
  createHttpClient,
  type HttpClientOptions,
  HttpFailure,
  type HttpRequest,
  readJson,
} from '@org/core/http'
import { createEmulator, createFaults, serve } from '@org/core/testing'
import { afterAll, beforeEach } from 'vitest'

/** Runs a real server with faults on demand for a test file, and makes requests by clients that never wait. */
export async function runServer() {
  const faults = createFaults()
  const { calls, fetch: inProcess } = createEmulator({
    faults,
    handle: () => Response.json({ ok: true }, { headers: { 'x-request': '7' } }),
    details: ({ text, headers }) => ({ text, headers }),
  })
  const { url, close } = await serve(inProcess)
  const waits: number[] = []
  const wait = async (milliseconds: number) => void waits.push(milliseconds)
  const reset = () => {
    faults.clear()
    calls.length = 0
    waits.length = 0
  }
  beforeEach(reset)
  afterAll(close)

  /** Makes one request. */
  const request = (wanted: Partial<HttpRequest> = {}, options: Partial<HttpClientOptions> = {}) =>
    createHttpClient({ baseUrl: url, readJson, wait, ...options })({ method: 'GET', path: '/', ...wanted })

  /** Makes a request that must fail. */
  async function failure(...given: Parameters<typeof request>) {
    const error: unknown = await request(...given).catch((reason: unknown) => reason)
    if (error instanceof HttpFailure) return error
    throw new Error('Expected an HttpFailure.', { cause: error })
  }

  return {
    url,
    /** The same server without a socket, for tests that replace the timers. */
    inProcess,
    faults,
    /** The requests that it received. */
    calls,
    /** The pauses between attempts, in milliseconds. */
    waits,
    request,
    failure,
    reset,
  }
}
