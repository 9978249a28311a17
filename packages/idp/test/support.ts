import { type Served, serve } from '@org/core/testing'
import { afterAll, beforeAll, beforeEach, expect } from 'vitest'
import {
  createIdpClient,
  type IdpClientOptions,
  type IntegrationError,
  isIntegrationError,
} from '../src/index.ts'
import { createBackendApi, type InstanceOptions } from '../src/testing/index.ts'

/** The time of the provider's clock. */
export const NOW = '2026-11-20T09:00:00.000Z'

/** Starts the provider for a test file, and resets it before each test. */
export function runIdp(...instances: InstanceOptions[]) {
  const [first = {}, ...others] = instances
  const backend = createBackendApi({ instances: [first, ...others], now: () => new Date(NOW) })
  const requests: { method: string; path: string; headers: Headers; text: string }[] = []
  const waits: number[] = []
  const actions = new Map<number, () => void>()
  let server: Served | undefined

  beforeAll(async () => {
    server = await serve(async (request) => {
      const text = await request.clone().text()
      const { pathname, search } = new URL(request.url)
      const path = pathname.replace(/^\/v1/, '') + decodeURIComponent(search)
      requests.push({ method: request.method, path, headers: request.headers, text })
      actions.get(requests.length)?.()
      return backend.fetch(request)
    })
  })
  afterAll(() => server?.close())
  beforeEach(() => {
    backend.reset()
    requests.length = 0
    waits.length = 0
    actions.clear()
  })

  return {
    backend,
    /** The requests that the provider received, with decoded paths below the base URL. */
    requests,
    /** The pauses between attempts, in milliseconds. The client records them, and does not wait. */
    waits,
    get url() {
      return `${server?.url ?? ''}/v1`
    },
    /** Runs an action when the request of this number, from 1, arrives. */
    atRequest: (count: number, action: () => void) => void actions.set(count, action),
    /** Sets the body of the next response. */
    respondWith: (body: unknown) => backend.faults.add({ status: 200, body }),
    client: (options: Partial<IdpClientOptions> = {}) =>
      createIdpClient({
        secretKey: backend.instance.secretKey,
        baseUrl: `${server?.url ?? ''}/v1`,
        wait: async (milliseconds) => {
          waits.push(milliseconds)
        },
        ...options,
      }),
  }
}

/** Returns the `IntegrationError` that a promise rejects with. */
export async function failureOf(work: Promise<unknown>): Promise<IntegrationError> {
  const error: unknown = await work.then(
    () => expect.fail('The promise resolved.'),
    (reason: unknown) => reason,
  )
  if (!isIntegrationError(error)) throw error
  return error
}
