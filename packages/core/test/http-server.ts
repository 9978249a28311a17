import {
  type CallOptions,
  createProviderClient,
  type HttpFailure,
  type Provider,
  type ProviderClientOptions,
  type ProviderRequest,
  readJson,
} from '@org/core/http'
import { createEmulator, createFaults, serve } from '@org/core/testing'
import { afterAll, beforeEach, expect } from 'vitest'

/** Runs a real server with faults on demand for a test file, and calls it by clients that never wait. */
export async function runServer() {
  const faults = createFaults()
  const { calls, fetch: inProcess } = createEmulator({
    faults,
    handle: () => Response.json({ ok: true }),
    details: ({ text, headers }) => ({ text, headers }),
  })
  const { url, close } = await serve(inProcess)
  const waits: number[] = []
  const wait = async (milliseconds: number) => void waits.push(milliseconds)
  let failed: HttpFailure | undefined
  const provider: Provider = {
    name: 'greeter',
    title: 'The provider',
    credentials: { title: 'token', missingHint: '', rejectedHint: '' },
    probe: { path: '/', isAnswer: () => true },
    isOwnForm: () => false,
    readFailure(failure) {
      failed = failure
      return {}
    },
  }
  const reset = () => {
    faults.clear()
    calls.length = 0
    waits.length = 0
    failed = undefined
  }
  beforeEach(reset)
  afterAll(close)

  /** Makes one call, by default a read, and returns the body of the response. */
  async function request(
    { signal, deadline, timeoutMs, ...wanted }: Partial<ProviderRequest> & CallOptions = {},
    options: Partial<ProviderClientOptions & Pick<Provider, 'readFailure'>> = {},
  ) {
    const connection = { baseUrl: url, credential: 'token', readJson, wait, ...options }
    const client = createProviderClient({ ...provider, ...options }, connection)
    const sent: ProviderRequest = { method: 'GET', path: '/', ...wanted }
    return (await client.call(sent, (body) => ({ body }), { signal, deadline, timeoutMs })).body
  }

  /** Makes a call that must fail, and returns the failure of its last attempt. */
  async function failure(...given: Parameters<typeof request>) {
    const error: unknown = await request(...given).catch((reason: unknown) => reason)
    return failed ?? expect.fail(`Expected a failure, and not ${error}.`)
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

/** A call that changes something. */
export const change: Partial<ProviderRequest> = { method: 'POST', change: 'the person was greeted' }
