/**
 * The routes beside the webhooks. Each comes with its description, so the OpenAPI document has all of them.
 */
import type { RouteDescription } from '@org/core/internal'
import type { Context, Hono } from 'hono'

/** A `GET` route with its description for the OpenAPI document. */
export interface Route extends Pick<RouteDescription, 'path'> {
  /** Loads its part of `descriptions.ts`. */
  describe: () => Promise<Description>
  handle: (context: Context) => Response | Promise<Response>
}

/** The description of a route at any path. */
export type Description = Omit<RouteDescription, 'path'>

/** No delivery or deployment has a longer id. */
export const LONGEST_ID = 200

/** For responses that hold for a moment only. */
export const unstored = { 'cache-control': 'no-store' }

/** Mounts each route at its path. */
export function mountRoutes(app: Hono, routes: readonly Route[]): void {
  for (const { path, handle } of routes) app.get(path.replaceAll(/\{(\w+)\}/g, ':$1'), handle)
}

/** Makes a value when it is first needed, and once; again if the promise of it fails. */
export function lazily<Value>(make: () => Value): () => Value {
  let made: { value: Value } | undefined
  return () => {
    if (made) return made.value
    const value = make()
    made = { value }
    if (value instanceof Promise) value.catch(() => (made = undefined))
    return value
  }
}
