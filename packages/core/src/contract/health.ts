import { isIntegrationError } from '../errors.ts'
import type { HealthCheck } from './integration.ts'

/**
 * Probes one thing for HEALTH_CHECK. A probe that fails is a finding, not an error.
 *
 * @param name what is probed, for example `provider`
 * @param probe resolves where it is healthy
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
