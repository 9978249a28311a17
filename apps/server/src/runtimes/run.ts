/** The host as a Node process: opens the store, listens, and finishes the events under way before it ends. */
import { flushCompileCache } from 'node:module'
import { setTimeout } from 'node:timers/promises'
import { getRequestListener, type Http2Bindings, type HttpBindings } from '@hono/node-server'
import type { DeliveryStore } from '@org/core'
import { createJsonLogger, createRedactor, redactLines } from '@org/core/internal/host'
import type { Config } from '../config.ts'
import { createHost, type HostOptions } from '../host.ts'
import { createMetrics } from '../metrics.ts'
import { loadUndici } from '../outbound/transport.ts'
import { forOwnMachine } from '../own-machine.ts'
import { openStore } from '../stores/open.ts'
import { createDrain } from './drain.ts'
import { createNodeRuntime } from './node-runtime.ts'
import { createOneAtATime } from './one-at-a-time.ts'

/** Beside the longest event: for its last writes and the response, in milliseconds. */
const LAST_WRITES_MS = 1_000
const STOP_SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const

/** The longest body may arrive at this pace, in bytes a millisecond. */
const SLOWEST_PACE = 65.536

/** Time limits for slow clients, in milliseconds. Node checks them every 30 seconds by default. */
const limitsFor = ({ bodyLimit, keepAliveMs }: Config) => ({
  headersTimeout: 10_000,
  requestTimeout: 15_000 + Math.ceil(bodyLimit / SLOWEST_PACE),
  keepAliveTimeout: keepAliveMs,
  connectionsCheckingInterval: 1_000,
})
/** After the start, so that the first question for its health is answered before. In milliseconds. */
const WARM_UP_MS = 500
/** Far more than the events under way, so that idle connections do not keep senders out. As many may arrive at once. */
const MAX_CONNECTIONS = 10_000

/** Options of {@link run} beside the configuration. */
export interface RunOptions extends Pick<HostOptions, 'environment' | 'integrations'> {
  /** Wraps the store of the configuration. */
  wrapStore?: (store: DeliveryStore) => DeliveryStore
}

/**
 * The request, with a chunked body that is dropped as it arrives once the host refuses it. The adapter's own body would
 * keep its pieces, and a sender may make each byte a piece, which takes 300 times its size.
 */
function withOwnBody(
  request: Request,
  incoming: HttpBindings['incoming'] | Http2Bindings['incoming'],
): Request {
  if (incoming.headers['transfer-encoding'] === undefined) return request
  const { url, method, headers, signal } = request
  // The connection outlives a body that is refused: its sender gets the response.
  const pieces = incoming.iterator({ destroyOnReturn: false })
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await pieces.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    async cancel() {
      await pieces.return?.()
      incoming.resume()
    },
  })
  const init: RequestInit & { duplex: 'half' } = { method, headers, signal, body, duplex: 'half' }
  return new Request(url, init)
}

/**
 * Runs a host until SIGTERM, SIGINT or SIGHUP.
 *
 * @param config see `readConfig`
 */
export async function run(
  config: Config,
  { wrapStore = (store) => store, ...options }: RunOptions,
): Promise<void> {
  // A log that nobody reads any more, or a full disk under it, ends no event.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
  const rawLogger = createJsonLogger(config.logLevel, (line) => void process.stdout.write(`${line}\n`))
  const redactor = createRedactor(config.secrets)
  const logger = redactLines(rawLogger, redactor)
  // Node would print every property of the error. The log takes secrets out.
  process.on('uncaughtException', (error) => {
    logger('error', 'The host failed and ends.', {
      reason: `${error.name}: ${error.message}`,
      at: error.stack?.split('\n').filter((line) => /^ +at /.test(line)),
    })
    process.exit(1)
  })
  const { store, close } = await openStore(config, logger)
  const stopping = new AbortController()
  const host = createHost(config, {
    ...options,
    stopping: stopping.signal,
    logger: rawLogger,
    store: wrapStore(store),
    createMetrics,
    ...createNodeRuntime(config),
    trustContentLength: true,
  })
  const { hostname, port } = config
  const handle = config.isOpen ? forOwnMachine(host, config.corsOrigins) : host.fetch
  const fetch = (request: Request, { incoming, outgoing }: HttpBindings | Http2Bindings) =>
    drain.admit(outgoing, () => handle(withOwnBody(request, incoming), incoming.socket.remoteAddress))
  const { server, hasWaiting } = createOneAtATime(limitsFor(config), getRequestListener(fetch, { hostname }))
  server.listen(port, hostname, MAX_CONNECTIONS, () => {
    const listening = server.address()
    if (listening === null || typeof listening === 'string') return
    const { address, family, port } = listening
    const name = family === 'IPv6' ? `[${address}]` : address
    logger('info', `Listening on http://${name}:${port}`, { address, port, ...host.facts })
    void warmUp()
  })
  server.maxConnections = MAX_CONNECTIONS
  server.on('error', (error) => {
    logger('error', `The host can’t listen on ${hostname}, port ${port}: ${error.message}`, host.facts)
    process.exit(1)
  })

  /** Loads what the first events would wait for, and ends if a file of the bundle is missing. */
  async function warmUp(): Promise<void> {
    await setTimeout(WARM_UP_MS, undefined, { ref: false })
    await Promise.all([host.load(), loadUndici()]).catch((error: NodeJS.ErrnoException) => {
      // Senders may hold all descriptors. Their connections end, and the next event loads the rest.
      if (error.code !== 'EMFILE' && error.code !== 'ENFILE') throw error
    })
    await store.probe().catch(({ name, message }: Error) => {
      if (name === 'FormatError') {
        logger('error', `DELIVERY_STORE: The store in Redis can’t be used: ${message}.`)
        process.exit(1)
      }
      logger('warn', `Events with an effect get 503 until DELIVERY_STORE takes a write: ${message}`)
    })
    flushCompileCache()
  }

  const { drainDelayMs, requestTimeoutMs, leaseMs } = config
  const drain = createDrain(server, { hasWaiting })

  async function stop(signal: NodeJS.Signals): Promise<void> {
    logger('info', `${signal}: /readyz answers 503, and the host stops when its events are done.`, {
      reason: signal,
      DRAIN_DELAY_MS: drainDelayMs,
      underWay: drain.underWay,
    })
    host.leave()
    await drain.leave(drainDelayMs)
    const longestMs = requestTimeoutMs + LAST_WRITES_MS
    let hasStopped = false
    setTimeout(longestMs, undefined, { ref: false }).then(async () => {
      // Only a reader of the log that takes nothing is left.
      if (hasStopped) process.exit(0)
      const facts = { reason: signal, underWay: drain.underWay, leaseMs }
      logger('error', `Some events were not done after ${longestMs} ms. Their claims expire.`, facts)
      process.exit(1)
    })
    stopping.abort()
    await host.drain()
    await drain.close()
    await close()
    logger('info', 'The host has stopped.', { reason: signal })
    hasStopped = true
    // When the reader has taken every line, or is gone.
    process.stdout.write('', () => process.exit(0))
  }

  let isStopping = false
  for (const signal of STOP_SIGNALS)
    process.on(signal, () => {
      if (isStopping) {
        const facts = { reason: `a second signal, ${signal}`, underWay: drain.underWay }
        logger('error', 'The host ends before its events do. Their claims expire.', facts)
        process.exit(1)
      }
      isStopping = true
      void stop(signal)
    })
}
