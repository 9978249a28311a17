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

/** A request as it was on the wire. */
interface SeenRequest {
  method: string
  /** Below the base URL, with the query decoded. */
  path: string
  headers: Headers
  text: string
}

/** The provider over real HTTP, for all tests of a file. */
export interface IdpFixture {
  backend: BackendApi
  /** Every request, as it was on the wire. */
  requests: SeenRequest[]
  /** The base URL. */
  readonly url: string
  /** Does something as soon as the request of this number (from 1) has arrived. */
  atRequest(count: number, action: () => void): void
  /** Answers the next request with any body. */
  answerWith(body: unknown): void
  /** The pauses between two tries, in milliseconds; none of them is really waited for. */
  waits: number[]
  client(options?: Partial<IdpClientOptions>): IdpClient
}

/** What the provider's clock shows. */
export const NOW = '2026-11-20T09:00:00.000Z'

/** Runs the provider for a test file; it starts each test as new. */
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
    answerWith: (body) => backend.faults.add({ status: 200, body }),
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

/** What a promise was rejected with, which must be an error of the family. */
export async function failureOf(work: Promise<unknown>): Promise<IntegrationError> {
  const error: unknown = await work.then(
    () => expect.fail('it should have failed'),
    (reason: unknown) => reason,
  )
  if (!isIntegrationError(error)) throw error
  return error
}

/** A URL on which nothing listens. */
export async function deadUrl(): Promise<string> {
  const server = await serve(async () => new Response())
  await server.close()
  return server.url
}
