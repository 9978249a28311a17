import * as z from 'zod'
import { isIntegrationError } from '../errors.ts'

export const healthCheck = z
  .object({
    name: z.string().describe('The name of the check.'),
    healthy: z.boolean(),
    latencyMs: z.number().describe('The duration of the check, in milliseconds.'),
    message: z.string().optional().describe('Why the check failed, and what to do about it.'),
  })
  .meta({ title: 'HealthCheck' })

/** The result of one probe. */
export type HealthCheck = z.infer<typeof healthCheck>

/**
 * Runs one probe for HEALTH_CHECK. A probe that fails with an `IntegrationError` is unhealthy: a result, and no error.
 * But the event fails while the platform is away (nobody knows what to probe), and while the host has too much to do.
 *
 * @param name the thing that is probed, for example `provider`
 * @param probe resolves if it is healthy
 */
export async function checkHealth(name: string, probe: () => Promise<unknown>): Promise<HealthCheck> {
  const started = performance.now()
  const latency = () => Math.round(performance.now() - started)
  try {
    await probe()
    return { name, healthy: true, latencyMs: latency() }
  } catch (error) {
    if (!isIntegrationError(error) || error.code === 'platform_unavailable' || error.code === 'overloaded')
      throw error
    const message = error.hint ? `${error.message} ${error.hint}` : error.message
    return { name, healthy: false, latencyMs: latency(), message }
  }
}
