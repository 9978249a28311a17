/** `GET /docs`: the OpenAPI document for people. */
import type { OpenApiDocument } from '@org/core/internal'
import * as z from 'zod'
import { lazily, type Route } from '../route.ts'
import { renderPage } from './page.ts'
import { ORIGIN } from './parts.ts'
import { script } from './script.ts'
import { style } from './style.ts'

/**
 * Makes the route. The page is made with the first request.
 *
 * @param document the document that it shows
 */
export function createDocsRoute(document: () => Promise<OpenApiDocument>): Route {
  const page = lazily(async () => renderPage(await document()))
  const policy = lazily(async () =>
    [
      "default-src 'none'",
      `style-src '${await hashOf(style)}'`,
      `script-src '${await hashOf(script)}'`,
      'img-src data:',
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ].join('; '),
  )
  return {
    path: '/docs',
    operationId: 'getDocs',
    summary: 'This document, for people',
    responses: { 200: { description: 'A page.', mediaType: 'text/html', schema: z.string() } },
    async handle(context) {
      const text = (await page()).replaceAll(ORIGIN, () => originOf(context.req.raw))
      return context.html(text, 200, { 'content-security-policy': await policy() })
    },
  }
}

/** The origin of this host, as the client sees it. */
function originOf({ url, headers }: Request): string {
  const { protocol, host } = new URL(url)
  // A proxy in front of the host terminates TLS.
  const outer = headers.get('x-forwarded-proto') === 'https' ? 'https:' : protocol
  return `${outer}//${host}`
}

async function hashOf(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return `sha256-${btoa(String.fromCharCode(...new Uint8Array(digest)))}`
}
