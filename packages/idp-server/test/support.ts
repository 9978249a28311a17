import { expect } from 'vitest'
import { runProvider } from '../../core/test/provider.ts'
import { createIdpPlatformClient, type IdpPlatformClientOptions } from '../src/index.ts'
import { createPlatformApi } from '../src/testing/index.ts'

export { failureOf } from '../../core/test/provider.ts'

export const hostToken = 'ak_of_the_host'
export const tenantToken = 'ak_of_the_tenant'
export const applicationsPath = '/v1/platform/applications'

/** Runs the provider for a test file. */
export function runPlatformApi() {
  const provider = createPlatformApi({ accessTokens: [hostToken, tenantToken] })
  const { requests, waits, wait, origin } = runProvider(provider)
  return {
    provider,
    requests,
    waits,
    /** The requests as `POST /v1/platform/applications`. */
    asked: () => requests.map(({ method, path }) => `${method} ${path}`),
    get url() {
      return `${origin()}/v1`
    },
    client: (options: Partial<IdpPlatformClientOptions> = {}) =>
      createIdpPlatformClient({ platformApiKey: hostToken, baseUrl: `${origin()}/v1`, wait, ...options }),
  }
}

/** Returns the only item of a collection. */
export function only<Item>(items: Iterable<Item>): Item {
  const [item, ...others] = items
  if (item === undefined || others.length > 0) expect.fail('The collection does not have exactly one item.')
  return item
}
