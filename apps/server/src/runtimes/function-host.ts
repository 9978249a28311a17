/**
 * The host as a function, on a platform that starts it on demand, halts it between events and keeps no files.
 */
import { IntegrationError } from '@org/core/errors'
import { toProblemResponse } from '@org/core/internal/host'
import { type Config, ConfigurationError, readConfig } from '../config.ts'
import { createHost, type Host, type HostOptions } from '../host.ts'
import { createFunctionStore } from '../stores/function-store.ts'

/**
 * Puts the host together. If the configuration is invalid, every response is a 500: an error would make the platform
 * hide the reason, and restart the function for each request.
 *
 * @param environment without NODE_ENV, this is production: anyone can reach a function, and most platforms do not
 * set NODE_ENV
 * @param createRuntime makes the parts that only the runtime has
 */
export function createFunctionHost(
  environment: Readonly<Record<string, string | undefined>>,
  createRuntime: (config: Config) => Pick<HostOptions, 'connections' | 'egress'>,
): Host['fetch'] {
  const NODE_ENV = environment.NODE_ENV?.trim() || 'production'
  try {
    const config = readConfig({ ...environment, NODE_ENV }, { isFunction: true })
    const store = createFunctionStore(config.deliveryStore, { recordKeys: config.recordKeys })
    const { fetch, logger, facts } = createHost(config, { environment, store, ...createRuntime(config) })
    logger('info', 'The host starts.', facts)
    return fetch
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error
    console.error(error.message)
    const hint = 'Its log names each variable at fault. Without NODE_ENV, a function is in production.'
    const message = 'The configuration of this host is invalid.'
    return () => toProblemResponse(new IntegrationError('internal_error', message, { hint }))
  }
}
