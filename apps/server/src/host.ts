/**
 * The whole host from its configuration: what every runtime's entry starts.
 *
 * @module
 */
import { createJsonLogger, createVerifier, type DeliveryStore, type Egress, type Logger, memoryStore, type Platform, type WebhookHandler } from '@org/core'
import { createConcurrencyLimit, createRedactor, type Hmac } from '@org/core/internal'
import { createPlatformClient } from '@org/platform-client'
import { createApp } from './app.ts'
import { type Circuits, countCircuits, withBreaker } from './breaker.ts'
import type { Config } from './config.ts'
import { createEnvironmentLookup } from './environment.ts'
import { createExplainRoute } from './explain.ts'
import { integrations } from './integrations.ts'
import { createMetrics, type Metrics } from './metrics.ts'
import { createMetricsRoute } from './metrics-route.ts'
import { type Onlooker, together, watchFetch, watchPlatform, watchStore } from './onlooker.ts'

/** A host that answers requests. */
export interface Host {
  fetch: (request: Request) => Response | Promise<Response>
  logger: Logger
  /** From now on no new event is taken; resolves when those under way are done. */
  drain(): Promise<void>
}

/** What a host may be given beside its configuration. */
export interface HostOptions {
  /** What `{{env.NAME}}` is looked up in. */
  environment?: Readonly<Record<string, string | undefined>>
  logger?: Logger
  /** @default a store in memory, whatever the configuration says: opening another is the runtime's part */
  store?: DeliveryStore
  /** Makes the calls to the providers. */
  fetch?: typeof fetch
  /**
   * Makes the calls to the platform, which may be made twice.
   * @default `fetch`
   */
  platformFetch?: typeof fetch
  /** @default `https` to named hosts */
  egress?: Egress
  /** @default Web Crypto */
  hmac?: Hmac
  /** Whether the runtime holds bodies to the length that was announced. */
  trustContentLength?: boolean
  /**
   * Shown at `GET /metrics`; `false` where the host is one of many that come and go, and tell of themselves alone.
   * @default those of the host, without those of a process
   */
  metrics?: Metrics | false
  /** Watches the host beside its metrics. */
  tracing?: Onlooker | undefined
  /**
   * How long a claim lasts without a sign of life, in milliseconds.
   * @default 60_000
   */
  leaseMs?: number
}

/** Events that are worked on at a time; more would only wait for each other. */
const MAX_IN_FLIGHT = 500
const DRAIN_POLL_MS = 20

/**
 * Puts the host together.
 *
 * @param config see `readConfig`
 */
export function createHost(config: Config, options: HostOptions = {}): Host {
  const { environment = {}, logger = createOwnLogger(config) } = options
  const definitions = integrations.map(({ definition }) => definition)
  const { metrics = createMetrics(definitions) } = options
  const onlooker = together(options.tracing, metrics || undefined)
  const ownStore = options.store ?? memoryStore()
  const store = onlooker ? watchStore(ownStore, onlooker) : ownStore
  const secrets = config.webhookSecrets
  const verify = secrets.length > 0 ? createVerifier({ secrets, hmac: options.hmac }) : undefined
  const gate = createConcurrencyLimit(MAX_IN_FLIGHT)
  const circuits = new Map<string, Circuits[]>()

  /** A breaker for each integration, so that one provider that is down costs the others nothing. */
  function outbound(integration: string) {
    const own: Circuits[] = []
    circuits.set(integration, own)
    function guard(send: typeof fetch): typeof fetch {
      const broken: Circuits = new Map()
      own.push(broken)
      const guarded = withBreaker(send, integration, logger, broken)
      if (!onlooker) return guarded
      return watchFetch(guarded, onlooker, (call) => ({ to: 'provider', integration, ...call }))
    }
    return {
      fetch: guard(options.fetch ?? fetch),
      egress: options.egress && { ...options.egress, fetch: guard(options.egress.fetch) },
    }
  }

  const common = {
    platform: connectPlatform(config, options.platformFetch ?? options.fetch, onlooker),
    store,
    verify,
    observer: onlooker,
    environment: createEnvironmentLookup(environment, config),
    secrets: config.secrets,
    gate,
    logger,
    bodyLimit: config.bodyLimit,
    trustContentLength: options.trustContentLength,
    timeoutMs: config.requestTimeoutMs,
    leaseMs: options.leaseMs,
  }
  let draining = false
  const app = createApp({
    webhooks: integrations.map(({ definition, createHandler }) => ({
      definition,
      handle: watchWebhook(
        definition.name,
        createHandler({ ...common, ...outbound(definition.name) }, config),
        onlooker,
      ),
    })),
    operating: [
      createExplainRoute({
        store,
        integrations: definitions,
        verify,
        redactor: createRedactor(config.secrets),
      }),
      ...(metrics ? [createMetricsRoute(metrics)] : []),
    ],
    store,
    corsOrigins: config.corsOrigins,
    isDraining: () => draining,
    logger,
  })
  if (metrics) {
    metrics.attach({
      inFlight: () => gate.inside,
      circuits: () =>
        new Map([...circuits].map(([integration, own]) => [integration, countCircuits(...own)])),
      storeReachable: () =>
        ownStore.ping().then(
          () => true,
          () => false,
        ),
    })
  }
  for (const warning of config.warnings) logger('warn', warning)
  return {
    fetch: (request) => app.fetch(request),
    logger,
    async drain() {
      draining = true
      while (gate.inside > 0) await new Promise((resolve) => setTimeout(resolve, DRAIN_POLL_MS))
    },
  }
}

function connectPlatform(
  { platform }: Config,
  send: typeof fetch | undefined,
  onlooker: Onlooker | undefined,
): Platform {
  if (!onlooker) return createPlatformClient({ ...platform, fetch: send })
  const watched = watchFetch(send ?? fetch, onlooker, (call) => ({ to: 'platform-api', ...call }))
  return watchPlatform(createPlatformClient({ ...platform, fetch: watched }), onlooker)
}

function watchWebhook(route: string, handle: WebhookHandler, onlooker: Onlooker | undefined): WebhookHandler {
  return (request) => onlooker?.webhook?.(route, request, () => handle(request)) ?? handle(request)
}

function createOwnLogger({ logLevel, secrets }: Config): Logger {
  const redactor = createRedactor(secrets)
  return createJsonLogger(logLevel, (line) => console.log(redactor.text(line)))
}

export { type Config, ConfigurationError, readConfig } from './config.ts'
