import { isIntegrationError } from './errors.ts'
import type { HealthCheck } from './integration.ts'

/**
 * Runs one check of HEALTH_CHECK. If the probe throws an `IntegrationError`, the check is unhealthy.
 *
 * @param name the name of the check, for example `provider`
 * @param probe resolves if the thing is healthy
 */
export async function checkHealth(name: string, probe: () => Promise<unknown>): Promise<HealthCheck> {
  const started = performance.now()
  const latency = () => Math.round(performance.now() - started)
  try {
    await probe()
    return { name, healthy: true, latencyMs: latency() }
  } catch (error) {
    if (!isIntegrationError(error)) throw error
    const message = error.hint ? `${error.message} ${error.hint}` : error.message
    return { name, healthy: false, latencyMs: latency(), message }
  }
}
