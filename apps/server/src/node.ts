/**
 * The host as a Node process.
 *
 * @module
 */
import { serve } from '@hono/node-server'
import { ConfigurationError, createHost, readConfig } from './host.ts'

/** How long events under way may still take after SIGTERM. */
const DRAIN_MS = 25_000

try {
  start()
} catch (error) {
  if (!(error instanceof ConfigurationError)) throw error
  console.error(error.message)
  process.exitCode = 1
}

function start(): void {
  const config = readConfig(process.env)
  const host = createHost(config, { environment: process.env })
  const server = serve({ fetch: host.fetch, port: config.port }, ({ port }) => {
    host.logger('info', `Listening on http://localhost:${port}`, { port })
  })
  server.on('error', (error) => {
    host.logger('error', `The host can’t listen on port ${config.port}: ${error.message}`)
    process.exitCode = 1
  })
  const stop = (signal: NodeJS.Signals) => {
    host.logger('info', `${signal}: no new events are taken; those under way go on.`)
    host.drain()
    server.close(() => process.exit(0))
    setTimeout(() => process.exit(1), DRAIN_MS).unref()
  }
  process.once('SIGTERM', stop)
  process.once('SIGINT', stop)
}
