/** `GET /docs`: the OpenAPI document for people. */
import type { OpenApiDocument } from '@org/core/internal'
import { lazily, type Route } from '../route.ts'

/**
 * Makes the route. The page is made with the first request.
 *
 * @param document the document that it shows
 */
export function createDocsRoute(document: () => Promise<OpenApiDocument>): Route {
  // A start loads nothing of the page.
  const page = lazily(async () => {
    const { createPage } = await import('./page.ts')
    return createPage(await document())
  })
  return {
    path: '/docs',
    describe: async () => (await import('../descriptions.ts')).docs,
    async handle(context) {
      const { at, policy } = await page()
      return context.html(at(originOf(context.req.raw)), 200, { 'content-security-policy': policy })
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
