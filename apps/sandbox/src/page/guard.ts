/**
 * Keeps the page to the person who sits at this machine. It can do things, so another site in the same browser
 * must not be able to ask it to, or to read what it knows.
 *
 * @module
 */
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

/** Turns away what does not come from the page itself, and gives every answer its headers. */
export const guard: MiddlewareHandler = async (context, next) => {
  const refusal = refuse(context.req.raw)
  if (refusal) return context.text(refusal, 403, HEADERS)
  await next()
  for (const [name, value] of Object.entries(HEADERS)) {
    if (!context.res.headers.has(name)) context.res.headers.set(name, value)
  }
  return undefined
}

/** @returns why a request is turned away; `undefined` where it is not */
function refuse({ method, url, headers }: Request): string | undefined {
  const { host, hostname } = new URL(url)
  // A name that somebody else's DNS leads to this machine.
  if (!['localhost', '127.0.0.1', '[::1]'].includes(hostname)) {
    return `The page answers at localhost, and not as ${host}.`
  }
  const site = headers.get('sec-fetch-site')
  if (method === 'GET' || method === 'HEAD') {
    const visit = headers.get('sec-fetch-mode') === 'navigate' && headers.get('sec-fetch-dest') === 'document'
    // “same-site” is any other port of this machine.
    return site === null || site === 'same-origin' || site === 'none' || visit
      ? undefined
      : 'The page is not open to other sites.'
  }
  if (headers.get('origin') !== `http://${host}` || (site !== null && site !== 'same-origin')) {
    return 'Only the page itself may do this.'
  }
  return headers.get('content-type')?.startsWith('application/json') ? undefined : 'The body has to be JSON.'
}

/** The policy for mail of strangers: shown, without script, without any request, without an origin. */
export const MAIL_POLICY =
  "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'; frame-ancestors 'self'"
