/**
 * The page as a server on this machine alone.
 *
 * @module
 */
import type { Manifest } from '@org/core/internal'
import { type Served, serve } from '@org/core/testing'
import { SandboxError } from '../environment.ts'
import type { World } from '../world.ts'
import { createPageApp } from './app.ts'
import { createPageContext } from './context.ts'
import { createStream } from './stream.ts'

/** The page while it is served. */
export interface Page {
  /** Without a slash at the end. */
  url: string
  /** The walk is over: from now on the page answers. */
  ready(): void
  close(): Promise<void>
}

/**
 * Serves the page of a world. Requests wait until the walk is over.
 *
 * @throws {SandboxError} where the port is taken
 */
export async function startPage(world: World, port: number): Promise<Page> {
  const { integrations } = await fetch(`${world.url}/integrations`).then(
    (response): Promise<{ integrations: Manifest[] }> => response.json(),
  )
  const context = createPageContext(world, integrations)
  const stream = createStream()
  const app = createPageApp(context, stream)
  const { promise: walked, resolve: ready } = Promise.withResolvers<void>()
  world.onChange((exchange) => {
    context.learn(exchange)
    stream.changed(context.timeline.record(exchange))
  })

  const server = await listen(async (request) => {
    await walked
    return app.fetch(request)
  }, port)
  return {
    url: `http://localhost:${server.port}`,
    ready() {
      world.tidy()
      ready()
    },
    async close() {
      ready()
      stream.close()
      await server.close()
    },
  }
}

async function listen(handle: (request: Request) => Promise<Response>, port: number): Promise<Served> {
  try {
    return await serve(handle, { port })
  } catch (error) {
    const taken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE'
    const reason = taken ? 'something else listens there' : error instanceof Error ? error.message : 'unknown'
    throw new SandboxError(
      `The sandbox’s page can’t be served on port ${port}: ${reason}. Choose another one, for example SANDBOX_PORT=${port === 3010 ? 3011 : 3010} npm start.`,
    )
  }
}
