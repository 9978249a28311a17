/**
 * The routes of the host (contract §8), on any runtime that has `Request` and `Response`.
 *
 * @module
 */

import type { IntegrationDefinition, WebhookHandler } from '@org/core'
import {
  type DeliveryStore,
  IntegrationError,
  isIntegrationError,
  type Logger,
  type OpenApiDocument,
  toManifest,
  toOpenApi,
  toProblem,
} from '@org/core'
import { Hono } from 'hono'
import { cors } from 'hono/cors'
import { secureHeaders } from 'hono/secure-headers'
import packageJson from '../package.json' with { type: 'json' }

/** What {@link createApp} mounts. */
export interface AppOptions {
  webhooks: readonly { definition: IntegrationDefinition; handle: WebhookHandler }[]
  store: DeliveryStore
  corsOrigins: readonly string[]
  isDraining: () => boolean
  logger: Logger
}

/** Nothing here is a page: no browser may run, frame or guess anything of it. TLS is ended in front of the host. */
const browserRules = {
  contentSecurityPolicy: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
  referrerPolicy: 'no-referrer',
  strictTransportSecurity: false,
}
const unstored = { 'cache-control': 'no-store' }

/** Mounts every integration at `POST /<name>/webhook`, and the reading routes beside them. */
export function createApp({ webhooks, store, corsOrigins, isDraining, logger }: AppOptions): Hono {
  const app = new Hono()
  app.use('*', secureHeaders(browserRules))
  const definitions = webhooks.map(({ definition }) => definition)

  for (const { definition, handle } of webhooks) {
    app.all(`/${definition.name}/webhook`, (context) => {
      if (isDraining()) {
        throw new IntegrationError('shutting_down', 'This host is shutting down; another one takes over.', {
          retryAfter: 1,
        })
      }
      return handle(context.req.raw)
    })
  }

  // A webhook is no browser's business, so only what is read is open to other origins.
  app.use('*', cors({ origin: [...corsOrigins], allowMethods: ['GET'] }))
  app.get('/healthz', (context) => context.json({ status: 'ok' }, 200, unstored))
  app.get('/readyz', async (context) => {
    if (isDraining()) return context.json({ status: 'shutting_down' }, 503, unstored)
    try {
      await store.ping()
      return context.json({ status: 'ready' }, 200, unstored)
    } catch {
      return context.json({ status: 'store_unreachable' }, 503, unstored)
    }
  })
  const manifests = { integrations: definitions.map(toManifest) }
  app.get('/integrations', (context) => context.json(manifests))
  const document = describeHost(definitions)
  app.get('/openapi.json', (context) => context.json(document))

  app.notFound((context) => {
    const routes = definitions.map(({ name }) => `POST /${name}/webhook`).join(', ')
    return problem(
      new IntegrationError(
        'not_found',
        `There is no ${context.req.method} ${context.req.path.slice(0, 200)} here.`,
        {
          hint: `The webhooks are ${routes}; GET /openapi.json describes everything.`,
        },
      ),
    )
  })
  app.onError((error) => {
    if (isIntegrationError(error)) return problem(error)
    logger('error', 'The host failed outside of an event.', { reason: `${error.name}: ${error.message}` })
    return problem(new IntegrationError('internal_error', 'Something went wrong in the host.'))
  })
  return app
}

function problem(error: IntegrationError): Response {
  const headers = new Headers({ 'content-type': 'application/problem+json', ...unstored })
  if (error.retryAfter !== undefined) headers.set('retry-after', String(error.retryAfter))
  return new Response(JSON.stringify(toProblem(error)), { status: error.status, headers })
}

/** What each reading route is for, as the OpenAPI document says it. */
const readingRoutes = {
  '/healthz': 'The process is alive.',
  '/readyz': 'Events are taken: the delivery store can be reached, and the host is not shutting down.',
  '/integrations':
    'Each integration with its inputs, outputs, functions, metrics and events, as JSON Schema.',
  '/openapi.json': 'This document.',
}

function describeHost(definitions: readonly IntegrationDefinition[]): OpenApiDocument {
  const document = toOpenApi(definitions, {
    title: 'Integration host',
    version: packageJson.version,
    description: 'Acts on a platform’s events against providers, one webhook for each integration.',
  })
  for (const [path, summary] of Object.entries(readingRoutes)) {
    const responses = {
      200: { description: summary, content: { 'application/json': { schema: { type: 'object' } } } },
    }
    document.paths[path] = { get: { summary, responses } }
  }
  return document
}
