/**
 * The routes beside the webhooks: each is described where it is made, so that none is mounted that the OpenAPI
 * document does not know.
 *
 * @module
 */
import type { RouteDescription } from '@org/core'
import type { Context, Hono } from 'hono'

/** A route that is read: what the document says of it, and what it answers. */
export interface Route extends RouteDescription {
  handle: (context: Context) => Response | Promise<Response>
}

/** For answers that are true for a moment alone. */
export const unstored = { 'cache-control': 'no-store' }

/** Mounts each route at its path. */
export function mountRoutes(app: Hono, routes: readonly Route[]): void {
  for (const { path, handle } of routes) app.get(path.replaceAll(/\{(\w+)\}/g, ':$1'), handle)
}

/** Makes something when it is first asked for, and once. */
export function lazily<Value>(make: () => Value): () => Value {
  let made: { value: Value } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}
