/** The integrations of the host, and its contract as an OpenAPI document (contract §8). */
import { manifestSchema, type RouteDescription, toManifest, toOpenApi } from '@org/core/internal'
import { etag } from 'hono/etag'
import * as z from 'zod'
import { loadDefinitions } from '../integrations.ts'
import { version } from '../version.ts'
import { createDocsRoute } from './docs/route.ts'
import { lazily, type Route } from './route.ts'

/**
 * `GET /integrations`, `GET /openapi.json` and `GET /docs`. Their content is made with the first request.
 *
 * @param others the routes beside these and the webhooks
 */
export function createDescribingRoutes(others: readonly RouteDescription[]): Route[] {
  const manifests = lazily(async () => ({ integrations: (await loadDefinitions()).map(toManifest) }))
  const document = lazily(async () => toOpenApi(await loadDefinitions(), info, [...routes, ...others]))
  const routes: Route[] = [
    {
      path: '/integrations',
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
      handle: tagged(manifests),
    },
    {
      path: '/openapi.json',
      operationId: 'getOpenApiDocument',
      summary: 'This document',
      responses: {
        200: {
          description: 'OpenAPI 3.1.',
          schema: z.looseObject({ openapi: z.string() }),
        },
        304: unchanged,
      },
      handle: tagged(document),
    },
    createDocsRoute(document),
  ]
  return routes
}

const withETag = etag()
const unchanged = { description: 'Nothing changed since the `ETag` in `if-none-match`.' }

/** Answers with a value as JSON, or with 304 to a client that has it. */
function tagged(make: () => Promise<unknown>): Route['handle'] {
  return async (context) => {
    await withETag(context, async () => {
      context.res = context.json(await make())
    })
    return context.res
  }
}

const info = {
  title: 'Integration host',
  version,
  description: [
    'Handles a platform’s events by calling providers: one webhook for each integration, one JSON body for each event.',
    'Give each delivery an id, in `webhook-id` or as the event’s `id`, and repeat the id and the body when you send it again. An effect happens once for an id: a redelivery is answered from the record, with `idempotency-replayed: true` and without sensitive outputs. Without an id, the host does not recognise a redelivery.',
    'Every failure is `application/problem+json` and says whether it is `retryable`. If it is, send the same request again, after `Retry-After` seconds if that header is there. Otherwise a retry gets the same response.',
  ].join('\n\n'),
}
