/** The descriptions of the routes, for the OpenAPI document. Their schemas are not loaded before the document is made. */
import {
  deliveryStatusSchema,
  manifestSchema,
  type RouteDescription,
  settlementSchema,
} from '@org/core/hosting'
import * as z from 'zod'

const unchanged = { description: 'Nothing changed since the `ETag` in `if-none-match`.' }
const delivery = z.object({ id: z.string().describe('The delivery’s id.') })
const deliveryRecords = z.object({ id: z.string(), records: z.array(deliveryStatusSchema) })

export const descriptions = {
  '/healthz': {
    operationId: 'getHealth',
    summary: 'Checks that the process is alive',
    responses: {
      200: { description: 'The process is alive.', schema: z.object({ status: z.literal('ok') }) },
    },
  },
  '/readyz': {
    operationId: 'getReadiness',
    summary: 'Checks that the host takes events',
    description:
      'Send events to another host while this one is not ready. A shared store that goes away after the first write changes `store`, and not the status: another host would have the same store.',
    query: z.object({
      store: z
        .string()
        .optional()
        .describe('With any value, or none, the store must take a write now; one write a second at most.'),
    }),
    responses: {
      200: {
        description: 'The delivery store took a write since the start, and the host is not shutting down.',
        schema: z.object({ status: z.literal('ready'), store: z.enum(['reachable', 'unreachable']) }),
      },
      503: {
        description: 'The host takes no events now.',
        schema: z.object({ status: z.enum(['shutting_down', 'store_unreachable']) }),
      },
    },
  },
  '/metrics': {
    operationId: 'getMetrics',
    summary: 'The counts and gauges of the host, for Prometheus',
    responses: {
      200: { description: 'Prometheus’ text format.', mediaType: 'text/plain', schema: z.string() },
    },
  },
  '/deliveries/{id}': {
    operationId: 'readDeliveryStatus',
    summary: 'The status of a delivery',
    description:
      'The recorded steps, the status of the response, and the effect of another delivery of the same event. The body of the response stays encrypted.',
    parameters: delivery,
    query: z.object({
      deployment: z
        .string()
        .optional()
        .describe(
          'The deployment of a DEPLOYMENT_CREATED or DEPLOYMENT_DELETED: these events claim a deployment as a whole.',
        ),
    }),
    responses: {
      200: {
        description: 'The records of the delivery, one for each route that has one.',
        schema: deliveryRecords,
      },
    },
  },
  '/deliveries/{id}/settle': {
    operationId: 'settleDelivery',
    summary: 'Says what happened to a delivery whose outcome is unknown',
    description:
      'Look at the provider first. After `sent`, a redelivery with the same id and body gets a success. After `not_sent`, it tries again; of a batch, the messages alone that were unknown. The route exists on a host with an `OPERATOR_TOKEN` only.',
    parameters: delivery,
    body: settlementSchema,
    responses: { 200: { description: 'The records of the delivery.', schema: deliveryRecords } },
  },
  '/integrations': {
    operationId: 'getIntegrations',
    summary: 'The inputs, outputs, functions and metrics of each integration',
    description: 'As JSON Schema, with everything that a form needs. The response has an `ETag`.',
    responses: {
      200: {
        description: 'Every integration of this host.',
        schema: z.object({ integrations: z.array(manifestSchema) }),
      },
      304: unchanged,
    },
  },
  '/openapi.json': {
    operationId: 'getOpenApiDocument',
    summary: 'This document',
    responses: {
      200: { description: 'OpenAPI 3.1.', schema: z.looseObject({ openapi: z.string() }) },
      304: unchanged,
    },
  },
  '/docs': {
    operationId: 'getDocs',
    summary: 'This document, for people',
    responses: {
      200: { description: 'A page.', mediaType: 'text/html', schema: z.string() },
      304: unchanged,
    },
  },
} satisfies Record<string, Omit<RouteDescription, 'path' | 'operator'>>
