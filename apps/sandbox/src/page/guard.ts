/** Protects the page: other sites in the same browser must neither use its actions nor read its data. */
import { refuseOtherSites } from '@org/server'
import type { MiddlewareHandler } from 'hono'

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "frame-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

const HEADERS = {
  'content-security-policy': POLICY,
  'cache-control': 'no-store',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}

/** Refuses requests of other sites, and adds the security headers to every response. */
export const guard: MiddlewareHandler = async (context, next) => {
  const refusal = refuse(context.req.raw)
  if (refusal) return context.text(refusal, 403, HEADERS)
  await next()
  for (const [name, value] of Object.entries(HEADERS)) {
    if (!context.res.headers.has(name)) context.res.headers.set(name, value)
  }
  return undefined
}

/** @returns why a request is refused; `undefined` if it is not */
function refuse(request: Request): string | undefined {
  const refusal = refuseOtherSites('page', request)
  const { method, headers } = request
  if (refusal || method === 'GET' || method === 'HEAD') return refusal
  if (!headers.has('origin')) return 'Only the page itself may use its actions.'
  return headers.get('content-type')?.startsWith('application/json') ? undefined : 'The body must be JSON.'
}

/** The policy for mail: no script, no request, no origin; a link opens a new tab. */
export const MAIL_POLICY =
  "sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'; frame-ancestors 'self'"
