/** The page as a server on this machine alone. */
import type { Manifest } from '@org/core/internal'
import { listen, type PortChoice } from '../world/listen.ts'
import type { World } from '../world/world.ts'
import { createPageApp } from './app.ts'
import { createPageContext } from './context.ts'
import { textOf } from './search.ts'
import { createStream } from './stream.ts'

/** The page while it is served. */
export type Page = Awaited<ReturnType<typeof startPage>>

/**
 * Serves the page of a world. Requests wait until the walk is over.
 * @throws {SandboxError} if the port is taken
 */
export async function startPage(world: World, port: number, choice: PortChoice = 'exactly') {
  const { integrations } = await fetch(`${world.url}/integrations`).then(
    (response): Promise<{ integrations: Manifest[] }> => response.json(),
  )
  const context = createPageContext(world, integrations)
  const stream = createStream()
  const app = createPageApp(context, stream)
  const { promise: walked, resolve: ready } = Promise.withResolvers<void>()
  world.listeners.onChange = (exchange) => {
    context.learn(exchange)
    const entry = context.timeline.record(exchange)
    // The first search need not read thousands of events.
    if (entry.response) textOf(context, entry)
    stream.changed()
  }
  const handle = async (request: Request) => walked.then(() => app.fetch(request))
  const server = await listen(handle, { port, choice, what: 'page', variable: 'SANDBOX_PORT' })
  return {
    url: `http://localhost:${server.port}`,
    /** The usual port, if something else listens there. */
    taken: server.taken,
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
