import type { EnvironmentLookup } from '@org/core'
import { type Config, configurationNames } from './config.ts'

/**
 * Resolves `{{env.NAME}}` (contract §6). In production only the variables of ENV_REFERENCE_ALLOW are resolved,
 * elsewhere every variable but the host's own configuration.
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
    // An object also has inherited names, such as “constructor”.
    const value = Object.hasOwn(environment, name) ? environment[name] : undefined
    return value ? { value } : { problem: `names ${name}, which is not set on this host` }
  }
}
