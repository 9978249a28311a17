/** The routes beside the webhooks. */
import type { Context, Hono } from 'hono'
import type { descriptions } from './descriptions.ts'

/** A route. */
export interface Route {
  /** @default 'get' */
  method?: 'post'
  /** As OpenAPI writes it. */
  path: keyof typeof descriptions
  /** Set on routes for operators: whether they want the token, or are open because there is none. */
  operator?: 'token' | 'open'
  handle: (context: Context) => Response | Promise<Response>
}

/** For responses that hold for a moment only. */
export const unstored = { 'cache-control': 'no-store' }

/** Mounts each route at its path. */
export function mountRoutes(app: Hono, routes: readonly Route[]): void {
  for (const { method = 'get', path, handle } of routes)
    app[method](path.replaceAll(/\{(\w+)\}/g, ':$1'), handle)
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
