import { createPlatformEmulator, serve } from '@org/core/testing'
import { createPlatformClient, type PlatformClientOptions } from '../src/index.ts'

/** The platform emulator behind real HTTP, with a token and the deployment `dep_1`. */
export async function startPlatform() {
  const platform = createPlatformEmulator({ token: 'platform-token-1' })
  const headers: Headers[] = []
  const server = await serve((request) => {
    headers.push(request.headers)
    return platform.fetch(request)
  })
  const waits: number[] = []

  return {
    ...platform,
    server,
    /** Of each request, as they came. */
    headers,
    /** How long the clients wanted to wait, in milliseconds. */
    waits,
    /** A client with the right token that never waits. */
    connect: (options: Partial<PlatformClientOptions> = {}) =>
      createPlatformClient({
        baseUrl: server.url,
        token: 'platform-token-1',
        wait: async (milliseconds) => void waits.push(milliseconds),
        ...options,
      }),
    reset() {
      platform.reset()
      platform.addDeployment({ id: 'dep_1', inputs: { region: 'eu' } })
      headers.length = 0
      waits.length = 0
    },
  }
}
