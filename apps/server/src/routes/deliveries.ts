/**
 * `GET /deliveries/{id}`: what became of a delivery, for the person who looks for it.
 *
 * @module
 */
import {
  type DeliveryStore,
  explainDelivery,
  explanationSchema,
  type IntegrationDefinition,
  IntegrationError,
  type Redactor,
  type Verify,
} from '@org/core'
import * as z from 'zod'
import { type Route, unstored } from './route.ts'

/** What {@link createDeliveriesRoute} answers from, and whom it answers. */
export interface DeliveriesRouteOptions {
  store: DeliveryStore
  integrations: readonly IntegrationDefinition[]
  /** @default everyone is answered, as webhooks take every event then */
  verify?: Verify | undefined
  redactor: Redactor
}

/** No delivery or deployment has a longer id. */
const LONGEST_ID = 200
const NO_BODY = new Uint8Array()

/** Makes the route. */
export function createDeliveriesRoute({ verify, ...known }: DeliveriesRouteOptions): Route {
  return {
    path: '/deliveries/{id}',
    operationId: 'explainDelivery',
    summary: 'What became of a delivery',
    description:
      'What is recorded: how far the work is, what it was answered, and what the same event would do if it were delivered again. The answer’s words are sealed. The signed webhook-id must be the id that is asked for; the signed body is empty.',
    parameters: z.object({ id: z.string().max(LONGEST_ID).describe('The delivery’s id.') }),
    query: z.object({
      deployment: z
        .string()
        .max(LONGEST_ID)
        .optional()
        .describe(
          'Whose event it was, for DEPLOYMENT_CREATED and DEPLOYMENT_DELETED: a deployment is claimed as a whole.',
        ),
    }),
    signed: true,
    problems: ['invalid_signature', 'not_found', 'overloaded'],
    answers: {
      200: {
        description: 'What is recorded of it, on each route that knows it.',
        schema: z.object({ id: z.string(), records: z.array(explanationSchema) }),
      },
    },
    async handle(context) {
      const id = context.req.param('id') ?? ''
      const { headers } = context.req.raw
      await verify?.(headers, NO_BODY)
      // So that who got hold of one signature can ask for nothing else.
      if (verify && headers.get('webhook-id') !== id) {
        throw new IntegrationError(
          'invalid_signature',
          'The signature is for another delivery than is asked for.',
        )
      }
      const deploymentId = context.req.query('deployment') || undefined
      const tooLong = [id, deploymentId ?? ''].some((given) => given.length > LONGEST_ID)
      const records = tooLong ? [] : await read({ ...known, deliveryId: id, deploymentId })
      if (records.length === 0) throw unknownDelivery(deploymentId)
      return context.json({ id, records }, 200, unstored)
    },
  }
}

async function read(options: Parameters<typeof explainDelivery>[0]) {
  try {
    return await explainDelivery(options)
  } catch (cause) {
    throw new IntegrationError('overloaded', 'The delivery store can’t be reached.', { retryAfter: 5, cause })
  }
}

function unknownDelivery(deploymentId: string | undefined): IntegrationError {
  return new IntegrationError('not_found', 'Nothing is recorded of this delivery.', {
    hint:
      deploymentId === undefined
        ? 'Records are kept for seven days, of what has an effect alone. For an event of a deployment, add ?deployment=<its id>.'
        : 'Records are kept for seven days, of what has an effect alone; of a deployment’s events, those that were answered, and the last one.',
  })
}
