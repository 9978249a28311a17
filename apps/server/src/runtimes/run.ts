/** The host as a Node process: opens the store, listens, and finishes the events under way before it ends. */
import { type Http2Bindings, type HttpBindings, serve } from '@hono/node-server'
import type { DeliveryStore } from '@org/core'
import { createRedactor, redactLines } from '@org/core/internal'
import type { Config } from '../config.ts'
import { createHost, type HostOptions } from '../host.ts'
import { createMetrics } from '../metrics.ts'
import { forOwnMachine } from '../own-machine.ts'
import { loadTracing } from './load-tracing.ts'
import { createLogger } from './logger.ts'
import { createNodeRuntime } from './node-runtime.ts'
import { readRecordKey } from './record-key.ts'
import { openStore } from './store.ts'

/** Longest time for the events under way after SIGTERM. */
const DRAIN_MS = 25_000
/** How often idle connections are closed meanwhile, in milliseconds. */
const CLOSE_IDLE_MS = 50
/** The time for the last responses to leave, in milliseconds. */
const CLOSE_ALL_MS = 1_000

/** Time limits for slow clients, in milliseconds. Node checks them every 30 seconds by default. */
const SLOW_CLIENTS = {
  headersTimeout: 10_000,
  requestTimeout: 15_000,
  keepAliveTimeout: 5_000,
  connectionsCheckingInterval: 1_000,
}
/** Far more than the events under way, so that idle connections do not keep senders out. */
const MAX_CONNECTIONS = 10_000

/** Options of {@link run} beside the configuration. */
export interface RunOptions extends Pick<HostOptions, 'environment' | 'leaseMs'> {
  /** Wraps the store of the configuration. */
  wrapStore?: (store: DeliveryStore) => DeliveryStore
}

/**
 * Runs a host until SIGTERM or SIGINT.
 *
 * @param config see `readConfig`
 * @throws {ConfigurationError} if the file of the store can't be written
 */
export async function run(
  config: Config,
  { wrapStore = (store) => store, ...options }: RunOptions,
): Promise<void> {
  const rawLogger = createLogger(config)
  const redactor = createRedactor(config.secrets)
  const tracing = await loadTracing(config, redactLines(rawLogger, redactor))
  const taggedLogger = tracing?.tag(rawLogger) ?? rawLogger
  const logger = redactLines(taggedLogger, redactor)
  // Node would print every property of the error. The log takes secrets out.
  process.on('uncaughtException', (error) => {
    logger('error', 'The host failed and ends.', {
      reason: `${error.name}: ${error.message}`,
      at: error.stack?.split('\n').filter((line) => /^ +at /.test(line)),
    })
    process.exit(1)
  })
  const { store, close } = await openStore(config.deliveryStore, logger)
  const stopping = new AbortController()
  const host = createHost(config, {
    ...options,
    stopping: stopping.signal,
    logger: taggedLogger,
    store: wrapStore(store),
    recordKeys: readRecordKey(config),
    createMetrics,
    tracing,
    ...createNodeRuntime(config),
    trustContentLength: true,
  })
  const { hostname, port } = config
  const handle = config.isOpen ? forOwnMachine(host, config.corsOrigins) : host.fetch
  const fetch = (request: Request, { incoming }: HttpBindings | Http2Bindings) =>
    handle(request, incoming.socket.remoteAddress)
  const server = serve({ fetch, hostname, port, serverOptions: SLOW_CLIENTS }, (listening) => {
    const { address, family, port } = listening
    const name = family === 'IPv6' ? `[${address}]` : address
    logger('info', `Listening on http://${name}:${port}`, { address, port })
    void host.metrics?.load()
  })
  if ('maxConnections' in server) server.maxConnections = MAX_CONNECTIONS
  server.on('error', (error) => {
    logger('error', `The host can’t listen on ${hostname}, port ${port}: ${error.message}`)
    process.exit(1)
  })

  async function stop(signal: NodeJS.Signals): Promise<void> {
    logger('info', `${signal}: the host takes no new events and finishes those under way.`)
    setTimeout(() => {
      logger('error', `Some events were still under way after ${DRAIN_MS} ms; their claims expire.`)
      process.exit(1)
    }, DRAIN_MS).unref()
    const closed = new Promise((resolve) => server.close(resolve))
    // A sender that keeps its connection open would delay the end.
    const closing = setInterval(() => {
      if ('closeIdleConnections' in server) server.closeIdleConnections()
    }, CLOSE_IDLE_MS)
    stopping.abort()
    await host.drain()
    // A connection without a whole request would keep the host until the time is over.
    setTimeout(() => {
      if ('closeAllConnections' in server) server.closeAllConnections()
    }, CLOSE_ALL_MS).unref()
    await closed
    clearInterval(closing)
    await close()
    await tracing?.flush().catch(() => {})
    process.exit(0)
  }
  process.once('SIGTERM', stop)
  process.once('SIGINT', stop)
}
