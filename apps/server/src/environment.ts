import type { EnvironmentLookup } from '@org/core'
import type { Config } from './config.ts'
import { isOwnName } from './variables.ts'

/**
 * Resolves `{{env.NAME}}` (contract §6). The host's own variables are never resolved. In production, only the variables
 * of ENV_REFERENCE_ALLOW are; elsewhere every other one is.
 */
export function createEnvironmentLookup(
  environment: Readonly<Record<string, string | undefined>>,
  config: Pick<Config, 'production' | 'environmentReferences'>,
): EnvironmentLookup {
  const { production, environmentReferences } = config
  const matches = (name: string) => (pattern: string) =>
    pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern
  const allowed = (name: string) =>
    !isOwnName(name) && (!production || environmentReferences.some(matches(name)))
  return (name) => {
    if (!allowed(name)) return { problem: `names ${name}, which this host does not let deployments use` }
    // An object also has inherited names, such as “constructor”.
    const value = Object.hasOwn(environment, name) ? environment[name] : undefined
    return value ? { value } : { problem: `names ${name}, which is not set on this host` }
  }
}
