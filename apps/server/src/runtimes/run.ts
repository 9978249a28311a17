/**
 * The life of a host as a Node process: it opens its store, listens, and ends without dropping an event.
 *
 * @module
 */
import { serve } from '@hono/node-server'
import type { DeliveryStore } from '@org/core'
import type { Config } from '../config.ts'
import { createHost, type HostOptions } from '../host.ts'
import { createMetrics } from '../metrics.ts'
import { loadTracing } from '../telemetry.ts'
import { createLogger } from './logger.ts'
import { createNodeRuntime } from './node-runtime.ts'
import { openStore } from './store.ts'

/** How long events under way may still take after SIGTERM. */
const DRAIN_MS = 25_000
/** How often connections that have become idle are closed meanwhile. */
const CLOSE_IDLE_MS = 50

/**
 * How long a client may take to say what it wants, in milliseconds. Node looks for slow ones every 30 seconds
 * unless it is told otherwise, whatever the limits are.
 */
const SLOW_CLIENTS = {
  headersTimeout: 10_000,
  requestTimeout: 15_000,
  keepAliveTimeout: 5_000,
  connectionsCheckingInterval: 1_000,
}
/** Far more than the events that are worked on: those that only wait must not keep others out. */
const MAX_CONNECTIONS = 10_000

/** What a process may be given beside its configuration. */
export interface RunOptions extends Pick<HostOptions, 'environment' | 'leaseMs'> {
  /** Puts something around the store that the configuration names. */
  wrapStore?: (store: DeliveryStore) => DeliveryStore
}

/**
 * Runs a host until SIGTERM or SIGINT.
 *
 * @param config see `readConfig`
 * @throws where the store's file can't be opened
 */
export async function run(
  config: Config,
  { wrapStore = (store) => store, ...options }: RunOptions,
): Promise<void> {
  const ownLogger = createLogger(config)
  const tracing = await loadTracing(config, ownLogger)
  const logger = tracing?.tag(ownLogger) ?? ownLogger
  // Node would print whatever such an error holds; this says its name, and the log takes secrets out.
  process.on('uncaughtException', (error) => {
    logger('error', 'The host failed, and ends.', {
      reason: `${error.name}: ${error.message}`,
      at: error.stack?.split('\n').filter((line) => /^ +at /.test(line)),
    })
    process.exit(1)
  })
  const { store, close } = await openStore(config.deliveryStore, logger)
  const host = createHost(config, {
    ...options,
    logger,
    store: wrapStore(store),
    createMetrics,
    tracing,
    ...createNodeRuntime(config),
    lengthHolds: true,
  })
  const server = serve({ fetch: host.fetch, port: config.port, serverOptions: SLOW_CLIENTS }, ({ port }) => {
    logger('info', `Listening on http://localhost:${port}`, { port })
    void host.metrics?.load()
  })
  if ('maxConnections' in server) server.maxConnections = MAX_CONNECTIONS
  server.on('error', (error) => {
    logger('error', `The host can’t listen on port ${config.port}: ${error.message}`)
    process.exit(1)
  })

  async function stop(signal: NodeJS.Signals): Promise<void> {
    logger('info', `${signal}: no new events are taken; those under way go on.`)
    setTimeout(() => {
      logger('error', `Events were still under way after ${DRAIN_MS} ms; their claims run out by themselves.`)
      process.exit(1)
    }, DRAIN_MS).unref()
    const closed = new Promise((resolve) => server.close(resolve))
    // A sender that keeps its connection would hold the process up until the time is over.
    const closing = setInterval(() => {
      if ('closeIdleConnections' in server) server.closeIdleConnections()
    }, CLOSE_IDLE_MS)
    await host.drain()
    await closed
    clearInterval(closing)
    await close()
    await tracing?.flush().catch(() => {})
    process.exit(0)
  }
  process.once('SIGTERM', stop)
  process.once('SIGINT', stop)
}
