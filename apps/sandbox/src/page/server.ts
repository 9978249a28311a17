/** The page as a server on this machine alone. */
import { type Environment, listen } from '../world/listen.ts'
import type { World } from '../world/world.ts'
import { createPageApp } from './app.ts'
import { createPageContext } from './context.ts'
import { textOf } from './search.ts'

/** The page while it is served. */
export type Page = Awaited<ReturnType<typeof startPage>>

/**
 * Serves the page of a world. Requests wait until the walk is over.
 * @throws {SandboxError} if it can’t listen on the port
 */
export async function startPage(world: World, port: number, environment: Environment = {}) {
  const context = createPageContext(world)
  const app = createPageApp(context)
  const { promise: walked, resolve: ready } = Promise.withResolvers<void>()
  world.listeners.onChange = (exchange) => {
    context.learn(exchange)
    const entry = context.timeline.record(exchange)
    // The first search need not read thousands of events.
    if (entry.response) textOf(entry)
    context.changes.tell()
  }
  const handle = async (request: Request) => walked.then(() => app.fetch(request))
  const server = await listen('page', handle, { port, variable: 'SANDBOX_PORT', environment })
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
      context.changes.end()
      await server.close()
    },
  }
}
