import { type Served, serve } from '@org/core/testing'
import { afterAll, beforeAll, beforeEach, expect } from 'vitest'
import {
  createIdpPlatformClient,
  type IdpPlatformClient,
  type IdpPlatformClientOptions,
  type IntegrationError,
  isIntegrationError,
} from '../src/index.ts'
import { createPlatformApi, type PlatformApi } from '../src/testing/index.ts'

/** A request as it was on the wire. */
interface SeenRequest {
  method: string
  /** With the query, where there is one. */
  path: string
  headers: Headers
  text: string
}

/** The provider over real HTTP, for all tests of a file. */
export interface Arrangement {
  provider: PlatformApi
  /** Every request, as it was on the wire. */
  requests: SeenRequest[]
  /** Does something as soon as the next request has arrived. */
  atRequest(action: () => void): void
  /** The requests as `POST /v1/platform/applications`. */
  asked(): string[]
  /** The base of both APIs. */
  readonly url: string
  /** The pauses between two tries, in milliseconds; none of them is really waited for. */
  waits: number[]
  client(options?: Partial<IdpPlatformClientOptions>): IdpPlatformClient
}

export const hostToken = 'ak_of_the_host'
export const tenantToken = 'ak_of_the_tenant'
export const applicationsPath = '/v1/platform/applications'

/** Runs the provider for a test file; it starts each test as new. */
export function runPlatformApi(): Arrangement {
  const provider = createPlatformApi({ accessTokens: [hostToken, tenantToken] })
  const requests: SeenRequest[] = []
  const waits: number[] = []
  let atRequest: (() => void) | undefined
  let server: Served | undefined

  beforeAll(async () => {
    server = await serve(async (request) => {
      const text = await request.clone().text()
      const { pathname, search } = new URL(request.url)
      requests.push({ method: request.method, path: pathname + search, headers: request.headers, text })
      atRequest?.()
      return provider.fetch(request)
    })
  })
  afterAll(() => server?.close())
  beforeEach(() => {
    provider.reset()
    requests.length = 0
    waits.length = 0
    atRequest = undefined
  })

  return {
    provider,
    requests,
    waits,
    atRequest(action) {
      atRequest = action
    },
    asked: () => requests.map(({ method, path }) => `${method} ${path}`),
    get url() {
      return `${server?.url}/v1`
    },
    client: (options) =>
      createIdpPlatformClient({
        platformApiKey: hostToken,
        baseUrl: `${server?.url}/v1`,
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

/** The only item of a collection. */
export function only<Item>(items: Iterable<Item>): Item {
  const [item, ...others] = items
  if (item === undefined || others.length > 0)
    expect.fail(`one item was expected, and not ${others.length + 1}`)
  return item
}
