import { createPlatformEmulator, serve } from '@org/core/testing'
import { createPlatformClient, type PlatformClientOptions } from '../src/index.ts'

export const token = 'platform-token-1'

/** The platform emulator behind real HTTP, with a token and the deployment `dep_1`. */
export async function startPlatform() {
  const platform = createPlatformEmulator({ token })
  const headers: Headers[] = []
  const server = await serve((request) => {
    headers.push(request.headers)
    return platform.fetch(request)
  })

  return {
    ...platform,
    server,
    /** The headers of each request. */
    headers,
    /** A client with the right token, which retries at once. */
    connect: (options: Partial<PlatformClientOptions> = {}) =>
      createPlatformClient({ baseUrl: server.url, token, backoffMs: 0, ...options }),
    reset() {
      platform.reset()
      platform.addDeployment({ id: 'dep_1', inputs: { region: 'eu' } })
      headers.length = 0
    },
  }
}
