/**
 * Whether the host is alive, and whether it takes events (contract §8).
 *
 * @module
 */
import type { DeliveryStore } from '@org/core'
import * as z from 'zod'
import { type Route, unstored } from './route.ts'

/** What {@link createStatusRoutes} asks. */
export interface StatusRoutesOptions {
  store: DeliveryStore
  isDraining: () => boolean
}

/** `GET /healthz` and `GET /readyz`. */
export function createStatusRoutes({ store, isDraining }: StatusRoutesOptions): Route[] {
  return [
    {
      path: '/healthz',
      operationId: 'getHealth',
      summary: 'Whether the process is alive',
      answers: { 200: { description: 'It is.', schema: z.object({ status: z.literal('ok') }) } },
      handle: (context) => context.json({ status: 'ok' }, 200, unstored),
    },
    {
      path: '/readyz',
      operationId: 'getReadiness',
      summary: 'Whether events are taken',
      description: 'Send no events to a host that is not ready: another one takes over.',
      answers: {
        200: {
          description: 'The delivery store can be reached, and the host is not shutting down.',
          schema: z.object({ status: z.literal('ready') }),
        },
        503: {
          description: 'Events are not taken now.',
          schema: z.object({ status: z.enum(['shutting_down', 'store_unreachable']) }),
        },
      },
      async handle(context) {
        if (isDraining()) return context.json({ status: 'shutting_down' }, 503, unstored)
        try {
          await store.ping()
          return context.json({ status: 'ready' }, 200, unstored)
        } catch {
          return context.json({ status: 'store_unreachable' }, 503, unstored)
        }
      },
    },
  ]
}
