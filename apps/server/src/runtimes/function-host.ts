/**
 * The host as a function, on a platform that starts it at need, halts it between two events, and keeps no file.
 *
 * @module
 */
import { IntegrationError, toProblemResponse } from '@org/core'
import { type Config, ConfigurationError, readConfig } from '../config.ts'
import { createHost, type Host, type HostOptions } from '../host.ts'
import { createFunctionStore } from './function-store.ts'

/** A host that is called for each request. */
export type FunctionHost = Pick<Host, 'fetch'> & {
  /** `undefined` where it could not be configured: then every request is answered with 500. */
  running?: { config: Config; logger: Host['logger'] }
}

const ONE_INSTANCE =
  'DELIVERY_STORE is memory:, so an effect happens once within one instance alone: another may repeat it.'

/**
 * Puts the host together. Never throws for a configuration that can't be used: a platform that can't start a
 * function says so in words of its own, and tries again for each request.
 *
 * @param environment where NODE_ENV is not set in it, this is production: a function can be reached by anyone as
 * soon as it is there, and most platforms do not set it
 * @param createRuntime makes the parts that only the runtime has
 */
export function createFunctionHost(
  environment: Readonly<Record<string, string | undefined>>,
  createRuntime: (config: Config) => Pick<HostOptions, 'connections' | 'egress' | 'hmac'>,
): FunctionHost {
  const NODE_ENV = environment.NODE_ENV?.trim() || 'production'
  try {
    const config = readConfig({ ...environment, NODE_ENV }, { keepsFiles: false })
    const store = createFunctionStore(config.deliveryStore)
    const { fetch, logger } = createHost(config, {
      environment,
      store,
      ...createRuntime(config),
    })
    if (config.deliveryStore === 'memory:') logger('warn', ONE_INSTANCE)
    return { fetch, running: { config, logger } }
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error
    const hint = environment.NODE_ENV ? '' : '\n  (Where NODE_ENV is not set, a function is in production.)'
    console.error(error.message + hint)
    return { fetch: () => notConfigured() }
  }
}

function notConfigured(): Response {
  const error = new IntegrationError('internal_error', 'This host is not configured.', {
    hint: 'Its log names each variable that is at fault.',
  })
  return toProblemResponse(error)
}
