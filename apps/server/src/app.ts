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
  toProblemResponse,
} from '@org/core'
import { Hono } from 'hono'
import { cors } from 'hono/cors'
import { secureHeaders } from 'hono/secure-headers'
import { createDescribingRoutes } from './routes/description.ts'
import { mountRoutes, type Route } from './routes/route.ts'
import { createStatusRoutes } from './routes/status.ts'

/** What {@link createApp} mounts. */
export interface AppOptions {
  webhooks: readonly { definition: IntegrationDefinition; handle: WebhookHandler }[]
  /** Routes for operators: no other origin may read them. */
  operating: readonly Route[]
  store: DeliveryStore
  corsOrigins: readonly string[]
  isDraining: () => boolean
  logger: Logger
}

/** No browser may frame, guess or tell others of anything here. TLS is ended in front of the host. */
const browserRules = { referrerPolicy: 'no-referrer', strictTransportSecurity: false }
/** Nothing is a page that does not say so itself: no browser may run anything of it. */
const NO_PAGE = "default-src 'none'; frame-ancestors 'none'"

/** Mounts every integration at `POST /<name>/webhook`, and the reading routes beside them. */
export function createApp(options: AppOptions): Hono {
  const { webhooks, operating, store, corsOrigins, isDraining, logger } = options
  const app = new Hono()
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

  // Below the webhooks, whose answers are made by core, and say all of this themselves.
  app.use('*', secureHeaders(browserRules))
  app.use('*', async (context, next) => {
    await next()
    const { headers } = context.res
    if (!headers.has('content-security-policy')) headers.set('content-security-policy', NO_PAGE)
  })
  mountRoutes(app, operating)
  // A webhook is no browser's business, so only what is read is open to other origins.
  app.use('*', cors({ origin: [...corsOrigins], allowMethods: ['GET'] }))
  // Each is described where it is made; see routes.ts. A further one is a line here.
  const routes = [...createStatusRoutes({ store, isDraining })]
  mountRoutes(app, [...routes, ...createDescribingRoutes(definitions, [...operating, ...routes])])

  app.notFound((context) => {
    const routes = definitions.map(({ name }) => `POST /${name}/webhook`).join(', ')
    return toProblemResponse(
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
    if (isIntegrationError(error)) return toProblemResponse(error)
    logger('error', 'The host failed outside of an event.', { reason: `${error.name}: ${error.message}` })
    return toProblemResponse(new IntegrationError('internal_error', 'Something went wrong in the host.'))
  })
  return app
}
