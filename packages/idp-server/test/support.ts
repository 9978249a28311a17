import { type Served, serve } from '@org/core/testing'
import { afterAll, beforeAll, beforeEach, expect } from 'vitest'
import {
  createIdpPlatformClient,
  type IdpPlatformClientOptions,
  type IntegrationError,
  isIntegrationError,
} from '../src/index.ts'
import { createPlatformApi } from '../src/testing/index.ts'

export const hostToken = 'ak_of_the_host'
export const tenantToken = 'ak_of_the_tenant'
export const applicationsPath = '/v1/platform/applications'

/** Starts the provider for a test file, and resets it before each test. */
export function runPlatformApi() {
  const provider = createPlatformApi({ accessTokens: [hostToken, tenantToken] })
  const requests: { method: string; path: string; headers: Headers; text: string }[] = []
  const waits: number[] = []
  let server: Served | undefined

  beforeAll(async () => {
    server = await serve(async (request) => {
      const text = await request.clone().text()
      const { pathname, search } = new URL(request.url)
      requests.push({ method: request.method, path: pathname + search, headers: request.headers, text })
      return provider.fetch(request)
    })
  })
  afterAll(() => server?.close())
  beforeEach(() => {
    provider.reset()
    requests.length = 0
    waits.length = 0
  })

  return {
    provider,
    /** The requests that the provider received. */
    requests,
    /** The pauses between attempts, in milliseconds. The client records them, and does not wait. */
    waits,
    /** The requests as `POST /v1/platform/applications`. */
    asked: () => requests.map(({ method, path }) => `${method} ${path}`),
    get url() {
      return `${server?.url}/v1`
    },
    client: (options: Partial<IdpPlatformClientOptions> = {}) =>
      createIdpPlatformClient({
        platformApiKey: hostToken,
        baseUrl: `${server?.url}/v1`,
        wait: async (milliseconds) => void waits.push(milliseconds),
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

/** Returns the only item of a collection. */
export function only<Item>(items: Iterable<Item>): Item {
  const [item, ...others] = items
  if (item === undefined || others.length > 0) expect.fail('The collection does not have exactly one item.')
  return item
}
