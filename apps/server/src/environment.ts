import type { EnvironmentLookup } from '@org/core'
import { type Config, configurationNames } from './config.ts'

/**
 * What `{{env.NAME}}` stands for (contract §6): in production only what ENV_REFERENCE_ALLOW lists; elsewhere
 * anything but the host's own configuration.
 */
export function createEnvironmentLookup(
  environment: Readonly<Record<string, string | undefined>>,
  config: Pick<Config, 'production' | 'environmentReferences'>,
): EnvironmentLookup {
  const allowed = (name: string) =>
    config.production
      ? config.environmentReferences.some((pattern) =>
          pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern,
        )
      : !configurationNames.includes(name)
  return (name) => {
    if (!allowed(name)) return { problem: `names ${name}, which this host does not let deployments use` }
    // Not what every object has, as “constructor”.
    const value = Object.hasOwn(environment, name) ? environment[name] : undefined
    return value ? { value } : { problem: `names ${name}, which is not set on this host` }
  }
}
