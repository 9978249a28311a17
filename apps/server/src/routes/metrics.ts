import type { Metrics } from '../metrics.ts'
import { type Route, unstored } from './route.ts'

/** `GET /metrics` (contract §8). Nothing in it is secret, but it is not for strangers either. */
export function createMetricsRoutes(metrics: Metrics | undefined): Route[] {
  if (!metrics) return []
  const handle: Route['handle'] = async (context) => {
    const registry = await metrics.load()
    const headers = { 'content-type': registry.contentType, ...unstored }
    return context.body(await registry.metrics(), 200, headers)
  }
  return [{ path: '/metrics', handle }]
}
