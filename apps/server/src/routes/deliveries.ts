/** `GET /deliveries/{id}`: the status of a delivery, for operators. */
import { IntegrationError } from '@org/core'
import { deliveryStatusSchema, readDeliveryStatus } from '@org/core/internal'
import * as z from 'zod'
import { loadDefinitions } from '../integrations.ts'
import { type Route, unstored } from './route.ts'

type DeliveryStatusOptions = Parameters<typeof readDeliveryStatus>[0]

/** No delivery or deployment has a longer id. */
const LONGEST_ID = 200

export function createDeliveriesRoute(known: Pick<DeliveryStatusOptions, 'store' | 'redactor'>): Route {
  return {
    path: '/deliveries/{id}',
    operationId: 'readDeliveryStatus',
    summary: 'The status of a delivery',
    description:
      'The recorded steps, the status of the response, and the effect of another delivery of the same event. The body of the response stays encrypted.',
    parameters: z.object({ id: z.string().max(LONGEST_ID).describe('The delivery’s id.') }),
    query: z.object({
      deployment: z
        .string()
        .max(LONGEST_ID)
        .optional()
        .describe(
          'The deployment of a DEPLOYMENT_CREATED or DEPLOYMENT_DELETED: these events claim a deployment as a whole.',
        ),
    }),
    problems: ['not_found', 'overloaded'],
    responses: {
      200: {
        description: 'The records of the delivery, one for each route that has one.',
        schema: z.object({ id: z.string(), records: z.array(deliveryStatusSchema) }),
      },
    },
    async handle(context) {
      const id = context.req.param('id') ?? ''
      const deploymentId = context.req.query('deployment') || undefined
      const tooLong = [id, deploymentId ?? ''].some((given) => given.length > LONGEST_ID)
      const records = tooLong
        ? []
        : await read({ ...known, integrations: await loadDefinitions(), deliveryId: id, deploymentId })
      if (records.length === 0) throw unknownDelivery(deploymentId)
      return context.json({ id, records }, 200, unstored)
    },
  }
}

async function read(options: DeliveryStatusOptions) {
  try {
    return await readDeliveryStatus(options)
  } catch (cause) {
    throw new IntegrationError('overloaded', 'The delivery store can’t be reached.', { retryAfter: 5, cause })
  }
}

function unknownDelivery(deploymentId: string | undefined): IntegrationError {
  return new IntegrationError('not_found', 'The host has no record of this delivery.', {
    hint:
      deploymentId === undefined
        ? 'Only events with an effect are recorded, for seven days. For an event of a deployment, add ?deployment=<its id>.'
        : 'Only events with an effect are recorded, for seven days; for a deployment, those that were answered and the last one.',
  })
}
