import * as z from 'zod'
import type { Metrics } from './metrics.ts'
import { TEXT_FORMAT } from './prometheus.ts'
import { type Route, unstored } from './routes.ts'

/** `GET /metrics` (contract §8). Nothing of it is secret, and nothing of it is for strangers either. */
export function createMetricsRoute(metrics: Metrics): Route {
  return {
    path: '/metrics',
    operationId: 'getMetrics',
    summary: 'What the host counts, for Prometheus',
    answers: {
      200: { description: 'Prometheus’ text format.', mediaType: 'text/plain', schema: z.string() },
    },
    handle: async (context) =>
      context.body(await metrics.render(), 200, { 'content-type': TEXT_FORMAT, ...unstored }),
  }
}
