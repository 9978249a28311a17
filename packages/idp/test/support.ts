import { runProvider } from '../../core/test/provider.ts'
import { createIdpClient, type IdpClientOptions } from '../src/index.ts'
import { createBackendApi, type InstanceOptions } from '../src/testing/index.ts'

export { failureOf } from '../../core/test/provider.ts'

/** The time of the provider's clock. */
export const NOW = '2026-11-20T09:00:00.000Z'

/** Runs the provider for a test file. The paths of its requests are decoded, and below the base URL. */
export function runIdp(...instances: InstanceOptions[]) {
  const [first = {}, ...others] = instances
  const backend = createBackendApi({ instances: [first, ...others], now: () => new Date(NOW) })
  const { wait, origin, ...run } = runProvider(
    backend,
    ({ pathname, search }) => pathname.replace(/^\/v1/, '') + decodeURIComponent(search),
  )
  return {
    backend,
    ...run,
    get url() {
      return `${origin()}/v1`
    },
    /** Sets the body of the next response. */
    respondWith: (body: unknown) => backend.faults.add({ status: 200, body }),
    client: (options: Partial<IdpClientOptions> = {}) =>
      createIdpClient({
        secretKey: backend.instance.secretKey,
        baseUrl: `${origin()}/v1`,
        wait,
        ...options,
      }),
  }
}
