/**
 * What the host says of itself: its integrations, and its contract as an OpenAPI document (contract §8).
 *
 * @module
 */
import {
  type IntegrationDefinition,
  manifestSchema,
  type RouteDescription,
  toManifest,
  toOpenApi,
} from '@org/core'
import * as z from 'zod'
import packageJson from '../../package.json' with { type: 'json' }
import { createDocsRoute } from './docs/route.ts'
import { lazily, type Route } from './route.ts'

/**
 * `GET /integrations`, `GET /openapi.json` and `GET /docs`. What they answer is made when it is first asked for.
 *
 * @param others the routes beside these and the webhooks
 */
export function createDescribingRoutes(
  definitions: readonly IntegrationDefinition[],
  others: readonly RouteDescription[],
): Route[] {
  const manifests = lazily(() => ({ integrations: definitions.map(toManifest) }))
  const document = lazily(() => toOpenApi(definitions, info, [...routes, ...others]))
  const routes: Route[] = [
    {
      path: '/integrations',
      operationId: 'getIntegrations',
      summary: 'What each integration takes, gives and can do',
      description: 'Everything that a platform needs to draw a form, as JSON Schema.',
      answers: {
        200: {
          description: 'Every integration of this host.',
          schema: z.object({ integrations: z.array(manifestSchema) }),
        },
      },
      handle: (context) => context.json(manifests()),
    },
    {
      path: '/openapi.json',
      operationId: 'getOpenApiDocument',
      summary: 'This document',
      answers: {
        200: {
          description: 'OpenAPI 3.1.',
          schema: z.looseObject({ openapi: z.literal('3.1.0') }),
        },
      },
      handle: (context) => context.json(document()),
    },
    createDocsRoute(document),
  ]
  return routes
}

const info = {
  title: 'Integration host',
  version: packageJson.version,
  description: [
    'Acts on a platform’s events against providers: one webhook for each integration, one JSON body for each event.',
    'Give each delivery an id, in `webhook-id` or as the event’s `id`, and repeat the id and the body when you send it again. An effect happens once for an id: a redelivery is answered from the record, with `idempotency-replayed: true` and without sensitive outputs. Without an id nothing is recognised again.',
    'Every failure is `application/problem+json` and says whether it is `retryable`. Then send the same request again, after `Retry-After` seconds where it is given; anything else stays as it is, however often it is sent.',
  ].join('\n\n'),
}
