/** The health, the readiness and the metrics of the host (contract §8). */
import type { Metrics } from '../metrics.ts'
import type { StoreWatch } from '../stores/watch.ts'
import { type Route, unstored } from './route.ts'

/** `GET /healthz` and `GET /readyz`. */
export function createStatusRoutes(store: StoreWatch, isLeaving: () => boolean): Route[] {
  return [
    {
      path: '/healthz',
      handle: (context) => context.json({ status: 'ok' }, 200, unstored),
    },
    {
      path: '/readyz',
      async handle(context) {
        if (isLeaving()) return context.json({ status: 'shutting_down' }, 503, unstored)
        const wantsProof = context.req.query('store') !== undefined
        const isReady = await (wantsProof ? store.prove() : store.isNoWorse())
        if (!isReady) return context.json({ status: 'store_unreachable' }, 503, unstored)
        const known = store.isReachable() ? 'reachable' : 'unreachable'
        return context.json({ status: 'ready', store: known }, 200, unstored)
      },
    },
  ]
}

/** `GET /metrics`. Nothing in it is secret, but it is not for strangers either. */
export function createMetricsRoute(metrics: Metrics): Route {
  return {
    path: '/metrics',
    async handle(context) {
      const registry = await metrics.load()
      const headers = { 'content-type': registry.contentType, ...unstored }
      return context.body(await registry.metrics(), 200, headers)
    },
  }
}
