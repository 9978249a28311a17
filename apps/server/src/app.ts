/** The routes of the host (contract §8), on any runtime that has `Request` and `Response`. */

import type { Logger } from '@org/core'
import { IntegrationError, isIntegrationError } from '@org/core/errors'
import type { Routes } from '@org/core/hosting'
import { toProblemResponse } from '@org/core/internal/host'
import { Hono, type MiddlewareHandler } from 'hono'
import { secureHeaders } from 'hono/secure-headers'
import { getPath } from 'hono/utils/url'
import { createDescribingRoutes } from './routes/description.ts'
import { mountRoutes, type Route } from './routes/route.ts'
import { createStatusRoutes } from './routes/status.ts'
import type { StoreWatch } from './stores/watch.ts'

/** Options of {@link createApp}. */
export interface AppOptions {
  /** The webhooks of the integrations. */
  routes: Routes
  /** Routes for operators. No page of another origin may read them. */
  operating: readonly Route[]
  store: StoreWatch
  corsOrigins: readonly string[]
  /** Whether balancers should send events elsewhere. */
  isLeaving: () => boolean
  /** Whether the host refuses new events. */
  isDraining: () => boolean
  onUnknownPath: (asked: { method: string; path: string }, request: Request) => void
  logger: Logger
}

const browserRules = {
  contentSecurityPolicy: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
  // A proxy in front of the host terminates TLS.
  strictTransportSecurity: false,
  // The page has a policy of its own.
  overwrite: false,
}

/** Lets pages of listed origins read the routes. The middleware of hono copies the body of each response. */
function openTo(origins: readonly string[]): MiddlewareHandler {
  return async (context, next) => {
    const { method, headers: asked } = context.req.raw
    if (method !== 'OPTIONS') await next()
    else
      context.res = context.body(null, 204, {
        'access-control-allow-methods': 'GET',
        'access-control-allow-headers': asked.get('access-control-request-headers') ?? '',
      })
    const { headers } = context.res
    headers.append('vary', 'Origin')
    const origin = asked.get('origin')
    if (origin !== null && origins.includes(origin)) headers.set('access-control-allow-origin', origin)
  }
}

/** Mounts every integration at `POST /<name>/webhook`, and the routes beside them. */
export function createApp(options: AppOptions): Hono {
  const { routes, operating, store, corsOrigins, isLeaving, isDraining, onUnknownPath, logger } = options
  const app = new Hono()

  // Not for the webhooks, whose responses have these headers from core.
  app.use('*', secureHeaders(browserRules))
  mountRoutes(app, operating)
  // Browsers never call webhooks, so only the routes below are open to other origins.
  app.use('*', openTo(corsOrigins))
  // To add a route, add a line here.
  const others = [...createStatusRoutes(store, isLeaving)]
  mountRoutes(app, [...others, ...createDescribingRoutes([...operating, ...others], routes)])

  app.notFound((context) => {
    const { method } = context.req
    const path = context.req.path.slice(0, 200)
    onUnknownPath({ method, path }, context.req.raw)
    // Each route that matches, but no middleware.
    const takes = (asked: string) =>
      app.router.match(asked, context.req.path)[0].some(([[, route]]) => route.method === asked)
    const allowed = ['GET', 'POST'].filter(takes).join().replace('GET', 'GET, HEAD')
    if (allowed !== '') {
      const message = `${path} takes ${allowed}, not ${method}.`
      const response = toProblemResponse(new IntegrationError('method_not_allowed', message))
      response.headers.set('allow', allowed)
      return response
    }
    const webhooks = [...routes.webhooks.keys()].map((path) => `POST ${path}`).join(', ')
    return toProblemResponse(
      new IntegrationError('not_found', `This host has no ${method} ${path}.`, {
        hint: `The webhooks are ${webhooks}; GET /docs and GET /openapi.json describe all routes.`,
      }),
    )
  })
  const fail = (error: unknown) => {
    if (isIntegrationError(error)) return toProblemResponse(error)
    const reason = error instanceof Error ? `${error.name}: ${error.message}` : 'unknown'
    logger('error', 'A request failed outside of an event.', { reason })
    return toProblemResponse(new IntegrationError('internal_error', 'The host has a fault.'))
  }
  app.onError(fail)

  const route = app.fetch
  return Object.assign(app, {
    /** An event passes no router, context or middleware. */
    async fetch(request: Request): Promise<Response> {
      const handle = routes.webhooks.get(getPath(request))
      if (!handle) return route(request)
      try {
        if (!isDraining()) return await handle(request)
        const message = 'This host is shutting down; send the event to another one.'
        throw new IntegrationError('shutting_down', message, { retryAfter: 1 })
      } catch (error) {
        return fail(error)
      }
    },
  })
}
