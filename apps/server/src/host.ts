/** The whole host from its configuration. The entry of each runtime starts it. */
import type { DeliveryStore, Logger } from '@org/core'
import {
  createConcurrencyLimit,
  createJsonLogger,
  createRedactor,
  createRoutes,
  createVerifier,
  memoryStore,
  redactLines,
} from '@org/core/internal/host'
import { createApp } from './app.ts'
import type { Config } from './config.ts'
import { createEnvironmentLookup } from './environment.ts'
import { builtin, type HostedIntegration, withVariables } from './integrations.ts'
import type { createMetrics } from './metrics.ts'
import type { EgressRule } from './outbound/egress-rule.ts'
import { type Connections, connectBy, createOutbound } from './outbound/outbound.ts'
import { createDeliveriesRoutes } from './routes/deliveries.ts'
import { forOperators } from './routes/operator.ts'
import { lazily } from './routes/route.ts'
import { createMetricsRoute } from './routes/status.ts'
import { watchStore } from './stores/watch.ts'
import { onePerPeer } from './stranger-log.ts'
import { revision, version } from './version.ts'

/** A host that answers requests. */
export interface Host {
  /** @param peer the network address of the sender */
  fetch: (request: Request, peer?: string | undefined) => Response | Promise<Response>
  logger: Logger
  /** For the line of the log that tells of the start. */
  facts: Record<string, unknown>
  /** Loads every integration, and what else is loaded when it is first needed. */
  load(): Promise<void>
  /** Makes `GET /readyz` 503 from now on. The host still takes events. */
  leave(): void
  /** Takes no new event from now on. Resolves when the events under way are answered and recorded. */
  drain(): Promise<void>
}

/** Options of {@link createHost} beside the configuration. */
export interface HostOptions {
  /** @default those of every host */
  integrations?: readonly HostedIntegration[]
  /** Resolves `{{env.NAME}}`. */
  environment?: Readonly<Record<string, string | undefined>>
  logger?: Logger
  /** @default a store in memory, whatever the configuration says: the runtime opens the store */
  store?: DeliveryStore
  /** @default all by `fetch` */
  connections?: Connections
  /** @default globalThis.fetch */
  fetch?: typeof fetch
  /** @default `https` to named hosts */
  egress?: EgressRule
  /** Whether the runtime enforces `content-length`. */
  trustContentLength?: boolean
  /** Pass it to have `GET /metrics`. An instance that comes and goes, as a function does, should not have it. */
  createMetrics?: typeof createMetrics
  /**
   * Ends long calls early, before `drain`. On Workers, a signal belongs to one request, so a function has none.
   */
  stopping?: AbortSignal
}

/** The network address of the sender. A `WeakMap` of requests would cost a tenth of an event. */
const peerKey = Symbol('peer')
type SentRequest = Request & { [peerKey]?: string | undefined }

/** Events under way at a time; more would only wait for each other. */
const MAX_IN_FLIGHT = 500
const DRAIN_POLL_MS = 20

/**
 * Puts the host together.
 *
 * @param config see `readConfig`
 */
export function createHost(config: Config, options: HostOptions = {}): Host {
  const { environment = {}, store = memoryStore(), integrations = builtin } = options
  const redactor = createRedactor(config.secrets)
  const strangers = onePerPeer(options.logger ?? createJsonLogger(config.logLevel))
  const rawLogger = strangers.logger
  const logger = redactLines(rawLogger, redactor)
  const secrets = config.webhookSecrets
  const verify = secrets.length > 0 ? createVerifier({ secrets }) : ('none' as const)
  const limit = createConcurrencyLimit(MAX_IN_FLIGHT)
  const isShared = !/^(memory|sqlite):/.test(config.deliveryStore)
  const storeWatch = watchStore(store, logger, isShared)
  const metrics = options.createMetrics?.({
    inFlight: () => limit.active,
    circuits: () => outbound.circuits(),
    definitions: () => routes.definitions(),
    isStoreReachable: () => storeWatch.prove(),
  })
  const outbound = createOutbound({
    connections: options.connections ?? connectBy(options.fetch ?? ((input, init) => fetch(input, init))),
    egress: options.egress,
    logger,
  })
  /** Writes to the store that go on after their response. */
  const unfinished = new Set<Promise<unknown>>()
  const dependencies = {
    store: storeWatch.watched,
    recordKeys: config.recordKeys,
    verify,
    peer: (request: SentRequest) => request[peerKey],
    observer: metrics,
    environment: createEnvironmentLookup(environment, config),
    secrets: config.secrets,
    limit,
    // Core redacts its lines itself.
    logger: rawLogger,
    bodyLimit: config.bodyLimit,
    trustContentLength: options.trustContentLength,
    timeoutMs: config.requestTimeoutMs,
    leaseMs: config.leaseMs,
    stopping: options.stopping,
    waitUntil(work: Promise<unknown>) {
      unfinished.add(work)
      void work.finally(() => unfinished.delete(work))
    },
  }
  const loadPlatform = lazily(async () => {
    const { createPlatformClient } = await import('@org/platform-client')
    return createPlatformClient({ ...config.platform, ...outbound.platform })
  })
  let isLeaving = false
  let isDraining = false
  const mounted = integrations.map((each) =>
    'load' in each
      ? { name: each.name, load: async () => withVariables(await each.load(config), environment) }
      : withVariables(each, environment),
  )
  const names = mounted.map((each) => ('load' in each ? each.name : each.integration.name))
  const providers = new Map(names.map((name) => [name, outbound.provider(name)]))
  const routes = createRoutes(mounted, async (name) => {
    return { ...dependencies, ...providers.get(name), platform: await loadPlatform() }
  })
  const app = createApp({
    routes,
    operating: forOperators(
      [
        ...createDeliveriesRoutes({ store, redactor }, routes, logger),
        ...(metrics ? [createMetricsRoute(metrics)] : []),
      ],
      config,
      ({ path }, request: SentRequest) =>
        logger('warn', 'A request without the token of the operator was refused.', {
          route: path,
          peer: request[peerKey],
        }),
    ),
    store: storeWatch,
    corsOrigins: config.corsOrigins,
    isLeaving: () => isLeaving,
    isDraining: () => isDraining,
    onUnknownPath({ method, path }, request: SentRequest) {
      metrics?.askedElsewhere()
      const peer = request[peerKey] ?? 'unknown'
      logger('warn', 'A request that no route of this host takes.', { method, path, peer })
    },
    logger,
  })
  const { mailer, idp, idpServer } = config
  const sharedTokens: Readonly<Record<string, unknown>> = {
    mailer: mailer.shared.apiToken,
    idp: idp.shared.secretKey,
    'idp-server': idpServer.platformApiKey,
  }
  for (const warning of config.warnings) logger('warn', warning)
  return {
    facts: {
      ...{ version, revision, store: config.deliveryStore.replace(/:.*/, '') },
      integrations: Object.fromEntries(
        names.map((name) => [name, { sharedToken: sharedTokens[name] !== undefined }]),
      ),
    },
    fetch(request: SentRequest, peer) {
      request[peerKey] = peer
      return app.fetch(request)
    },
    logger,
    async load() {
      await Promise.all([metrics?.load(), routes.load()])
    },
    leave() {
      isLeaving = true
    },
    async drain() {
      isLeaving = true
      isDraining = true
      while (limit.active > 0 || unfinished.size > 0)
        await new Promise((resolve) => setTimeout(resolve, DRAIN_POLL_MS))
      strangers.flush()
    },
  }
}

export { type Config, ConfigurationError, readConfig } from './config.ts'
export { builtin, importIntegrations } from './integrations.ts'
export { createMetrics } from './metrics.ts'
export { refuseOtherSites } from './own-machine.ts'
