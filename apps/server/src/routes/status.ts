/** The health and the readiness of the host (contract §8). */
import * as z from 'zod'
import { type Route, unstored } from './route.ts'

/** `GET /healthz` and `GET /readyz`. */
export function createStatusRoutes(
  isStoreReachable: () => Promise<boolean>,
  isLeaving: () => boolean,
): Route[] {
  return [
    {
      path: '/healthz',
      operationId: 'getHealth',
      summary: 'Checks that the process is alive',
      responses: {
        200: { description: 'The process is alive.', schema: z.object({ status: z.literal('ok') }) },
      },
      handle: (context) => context.json({ status: 'ok' }, 200, unstored),
    },
    {
      path: '/readyz',
      operationId: 'getReadiness',
      summary: 'Checks that the host takes events',
      description: 'Send events to another host while this one is not ready.',
      responses: {
        200: {
          description: 'The delivery store takes writes, and the host is not shutting down.',
          schema: z.object({ status: z.literal('ready') }),
        },
        503: {
          description: 'The host takes no events now.',
          schema: z.object({ status: z.enum(['shutting_down', 'store_unreachable']) }),
        },
      },
      async handle(context) {
        if (isLeaving()) return context.json({ status: 'shutting_down' }, 503, unstored)
        if (await isStoreReachable()) return context.json({ status: 'ready' }, 200, unstored)
        return context.json({ status: 'store_unreachable' }, 503, unstored)
      },
    },
  ]
}
