/** The page as a server on this machine alone. */
import type { Manifest } from '@org/core/internal'
import { listen } from '../world/listen.ts'
import type { World } from '../world/world.ts'
import { createPageApp } from './app.ts'
import { createPageContext } from './context.ts'
import { createStream } from './stream.ts'

/** The page while it is served. */
export type Page = Awaited<ReturnType<typeof startPage>>

/**
 * Serves the page of a world. Requests wait until the walk is over.
 *
 * @throws {SandboxError} if the port is taken
 */
export async function startPage(world: World, port: number) {
  const { integrations } = await fetch(`${world.url}/integrations`).then(
    (response): Promise<{ integrations: Manifest[] }> => response.json(),
  )
  const context = createPageContext(world, integrations)
  const stream = createStream()
  const app = createPageApp(context, stream)
  const { promise: walked, resolve: ready } = Promise.withResolvers<void>()
  world.listeners.onChange = (exchange) => {
    context.learn(exchange)
    context.timeline.record(exchange)
    stream.changed()
  }
  const server = await listen(
    async (request) => {
      await walked
      return app.fetch(request)
    },
    port,
    'page',
    'SANDBOX_PORT',
  )
  return {
    url: `http://localhost:${server.port}`,
    /** Ends the walk: from now on the page responds. */
    ready(): void {
      world.reset()
      ready()
    },
    async close(): Promise<void> {
      ready()
      stream.close()
      await server.close()
    },
  }
}
