/**
 * The whole host from its configuration: what every runtime's entry starts.
 *
 * @module
 */
import { createJsonLogger, createVerifier, type DeliveryStore, type Logger, memoryStore } from '@org/core'
import { createPlatformClient } from '@org/platform-client'
import { createApp } from './app.ts'
import type { Config } from './config.ts'
import { createEnvironmentLookup } from './environment.ts'
import { integrations } from './integrations.ts'

/** A host that answers requests. */
export interface Host {
  fetch: (request: Request) => Response | Promise<Response>
  logger: Logger
  /** From now on no new event is taken; those under way go on. */
  drain(): void
}

/** What a host may be given beside its configuration. */
export interface HostOptions {
  /** What `{{env.NAME}}` is looked up in. */
  environment?: Readonly<Record<string, string | undefined>>
  logger?: Logger
  store?: DeliveryStore
  fetch?: typeof fetch
}

/**
 * Puts the host together.
 *
 * @param config see `readConfig`
 */
export function createHost(config: Config, options: HostOptions = {}): Host {
  const {
    environment = {},
    fetch,
    logger = createJsonLogger(config.logLevel),
    store = memoryStore(),
  } = options
  const common = {
    platform: createPlatformClient({ ...config.platform, fetch }),
    store,
    verify: config.webhookSecrets.length > 0 ? createVerifier({ secrets: config.webhookSecrets }) : undefined,
    environment: createEnvironmentLookup(environment, config),
    secrets: config.secrets,
    fetch,
    logger,
    bodyLimit: config.bodyLimit,
    timeoutMs: config.requestTimeoutMs,
  }
  let draining = false
  const app = createApp({
    webhooks: integrations.map(({ definition, createHandler }) => ({
      definition,
      handle: createHandler(common, config),
    })),
    store,
    corsOrigins: config.corsOrigins,
    isDraining: () => draining,
  })
  for (const warning of config.warnings) logger('warn', warning)
  return {
    fetch: (request) => app.fetch(request),
    logger,
    drain() {
      draining = true
    },
  }
}

export { type Config, ConfigurationError, readConfig } from './config.ts'
