/** The status of a delivery, and what happened if its outcome is unknown, for operators. */
import type { Logger } from '@org/core'
import { IntegrationError, isIntegrationError } from '@org/core/errors'
import type { Routes, readDeliveryStatus } from '@org/core/hosting'
import type { Context } from 'hono'
import { type Route, unstored } from './route.ts'

type DeliveryStatusOptions = Parameters<typeof readDeliveryStatus>[0]

/** `GET /deliveries/{id}` and `POST /deliveries/{id}/settle`. */
export function createDeliveriesRoutes(
  known: Pick<DeliveryStatusOptions, 'store' | 'redactor'>,
  { definitions }: Pick<Routes, 'definitions'>,
  logger: Logger,
): Route[] {
  async function show(context: Context): Promise<Response> {
    const id = context.req.param('id') ?? ''
    const deploymentId = context.req.query('deployment') || undefined
    const { readDeliveryStatus } = await import('@org/core/hosting')
    const options = { ...known, integrations: await definitions(), deliveryId: id, deploymentId }
    const records = await reach(readDeliveryStatus(options))
    if (records.length === 0) throw unknownDelivery()
    return context.json({ id, records }, 200, unstored)
  }

  async function settle(context: Context): Promise<Response> {
    const delivery = context.req.param('id') ?? ''
    const given: unknown = await context.req.json().catch(() => {
      throw new IntegrationError('invalid_json', 'The body is not JSON.')
    })
    const { settleDelivery } = await import('@org/core/hosting')
    const settled = await reach(settleDelivery(known.store, await definitions(), delivery, given))
    if (!settled) throw unknownDelivery()
    logger('info', 'A delivery was settled.', { delivery, ...settled })
    return show(context)
  }

  return [
    { path: '/deliveries/{id}', handle: show },
    { method: 'post', path: '/deliveries/{id}/settle', handle: settle },
  ]
}

async function reach<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer
  } catch (cause) {
    // The host did not sign the record, or does not settle it.
    if (isIntegrationError(cause)) throw cause
    throw new IntegrationError('overloaded', 'The delivery store can’t be reached.', { retryAfter: 5, cause })
  }
}

function unknownDelivery(): IntegrationError {
  return new IntegrationError('not_found', 'The host has no record of this delivery.', {
    hint: 'Only events with an effect are recorded, for seven days. For an event of a deployment, add ?deployment=<its id>.',
  })
}
