/** `GET /deliveries/{id}`: the status of a delivery, for operators. */
import { IntegrationError, isIntegrationError } from '@org/core/errors'
import type { readDeliveryStatus } from '@org/core/internal'
import { loadDefinitions } from '../integrations.ts'
import { LONGEST_ID, type Route, unstored } from './route.ts'

type DeliveryStatusOptions = Parameters<typeof readDeliveryStatus>[0]

export function createDeliveriesRoute(known: Pick<DeliveryStatusOptions, 'store' | 'redactor'>): Route {
  return {
    path: '/deliveries/{id}',
    async handle(context) {
      const id = context.req.param('id') ?? ''
      const deploymentId = context.req.query('deployment') || undefined
      const tooLong = [id, deploymentId ?? ''].some((given) => given.length > LONGEST_ID)
      const records = tooLong
        ? []
        : await read({ ...known, integrations: await loadDefinitions(), deliveryId: id, deploymentId })
      if (records.length === 0) throw unknownDelivery()
      return context.json({ id, records }, 200, unstored)
    },
  }
}

async function read(options: DeliveryStatusOptions) {
  const { readDeliveryStatus } = await import('@org/core/internal')
  try {
    return await readDeliveryStatus(options)
  } catch (cause) {
    // The host did not sign the record.
    if (isIntegrationError(cause)) throw cause
    throw new IntegrationError('overloaded', 'The delivery store can’t be reached.', { retryAfter: 5, cause })
  }
}

function unknownDelivery(): IntegrationError {
  return new IntegrationError('not_found', 'The host has no record of this delivery.', {
    hint: 'Only events with an effect are recorded, for seven days. For an event of a deployment, add ?deployment=<its id>.',
  })
}
