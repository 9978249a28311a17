/**
 * The whole host from its configuration: what every runtime's entry starts.
 *
 * @module
 */
import {
  createGate,
  createJsonLogger,
  createRedactor,
  createVerifier,
  type DeliveryStore,
  type Egress,
  type Hmac,
  type Logger,
  memoryStore,
} from '@org/core'
import { createPlatformClient } from '@org/platform-client'
import { createApp } from './app.ts'
import { withBreaker } from './breaker.ts'
import type { Config } from './config.ts'
import { createEnvironmentLookup } from './environment.ts'
import { integrations } from './integrations.ts'

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
  fetch?: typeof fetch
  /** @default `https` to named hosts */
  egress?: Egress
  /** @default Web Crypto */
  hmac?: Hmac
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
  const { environment = {}, logger = createOwnLogger(config), store = memoryStore() } = options
  const secrets = config.webhookSecrets
  const gate = createGate(MAX_IN_FLIGHT)
  // A breaker for each integration, so that one provider that is down costs the others nothing.
  const outbound = (name: string) => ({
    fetch: withBreaker(options.fetch ?? fetch, name, logger),
    egress: options.egress && { ...options.egress, fetch: withBreaker(options.egress.fetch, name, logger) },
  })
  const common = {
    platform: createPlatformClient({ ...config.platform, fetch: options.fetch }),
    store,
    verify: secrets.length > 0 ? createVerifier({ secrets, hmac: options.hmac }) : undefined,
    environment: createEnvironmentLookup(environment, config),
    secrets: config.secrets,
    gate,
    logger,
    bodyLimit: config.bodyLimit,
    timeoutMs: config.requestTimeoutMs,
    leaseMs: options.leaseMs,
  }
  let draining = false
  const app = createApp({
    webhooks: integrations.map(({ definition, createHandler }) => ({
      definition,
      handle: createHandler({ ...common, ...outbound(definition.name) }, config),
    })),
    store,
    corsOrigins: config.corsOrigins,
    isDraining: () => draining,
    logger,
  })
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

function createOwnLogger({ logLevel, secrets }: Config): Logger {
  const redactor = createRedactor(secrets)
  return createJsonLogger(logLevel, (line) => console.log(redactor.text(line)))
}

export { type Config, ConfigurationError, readConfig } from './config.ts'
