import { type Served, serve } from '@org/core/testing'
import { afterAll, beforeAll, beforeEach, expect } from 'vitest'
import {
  createIdpClient,
  type IdpClient,
  type IdpClientOptions,
  type IntegrationError,
  isIntegrationError,
} from '../src/index.ts'
import { type BackendApi, createBackendApi, type InstanceOptions } from '../src/testing/index.ts'

/** A request that the provider received. */
interface SeenRequest {
  method: string
  /** Below the base URL, with the query decoded. */
  path: string
  headers: Headers
  text: string
}

/** The provider over real HTTP. */
export interface IdpFixture {
  backend: BackendApi
  requests: SeenRequest[]
  /** The base URL. */
  readonly url: string
  /** Runs an action when the request of this number, from 1, arrives. */
  atRequest(count: number, action: () => void): void
  /** Sets the body of the next response. */
  respondWith(body: unknown): void
  /** The pauses between attempts, in milliseconds. The client records them, and does not wait. */
  waits: number[]
  client(options?: Partial<IdpClientOptions>): IdpClient
}

/** The time of the provider's clock. */
export const NOW = '2026-11-20T09:00:00.000Z'

/** Starts the provider for a test file, and resets it before each test. */
export function runIdp(...instances: InstanceOptions[]): IdpFixture {
  const [first = {}, ...others] = instances
  const backend = createBackendApi({ instances: [first, ...others], now: () => new Date(NOW) })
  const requests: SeenRequest[] = []
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
    requests,
    waits,
    get url() {
      return `${server?.url ?? ''}/v1`
    },
    atRequest: (count, action) => void actions.set(count, action),
    respondWith: (body) => backend.faults.add({ status: 200, body }),
    client: (options) =>
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

/** Returns a URL that refuses connections. */
export async function deadUrl(): Promise<string> {
  const server = await serve(async () => new Response())
  await server.close()
  return server.url
}
