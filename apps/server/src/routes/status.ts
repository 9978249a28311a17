/** The health and the readiness of the host (contract §8). */
import { type Route, unstored } from './route.ts'

/** `GET /healthz` and `GET /readyz`. */
export function createStatusRoutes(
  isStoreReachable: () => Promise<boolean>,
  isLeaving: () => boolean,
): Route[] {
  return [
    {
      path: '/healthz',
      describe: async () => (await import('./descriptions.ts')).health,
      handle: (context) => context.json({ status: 'ok' }, 200, unstored),
    },
    {
      path: '/readyz',
      describe: async () => (await import('./descriptions.ts')).readiness,
      async handle(context) {
        if (isLeaving()) return context.json({ status: 'shutting_down' }, 503, unstored)
        if (await isStoreReachable()) return context.json({ status: 'ready' }, 200, unstored)
        return context.json({ status: 'store_unreachable' }, 503, unstored)
      },
    },
  ]
}
