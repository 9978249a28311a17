/** `GET /docs`: the OpenAPI document for people. */
import type { OpenApiDocument } from '@org/core/internal'
import { lazily, type Route } from '../route.ts'
import { sendStaticContent, toStaticContent } from '../static-content.ts'

/**
 * Makes the route. The page is made with the first request.
 *
 * @param document the document that it shows
 */
export function createDocsRoute(document: () => Promise<OpenApiDocument>): Route {
  // A start loads nothing of the page.
  const page = lazily(async () => {
    const { createPage } = await import('./page.ts')
    const { text, policy } = await createPage(await document())
    return toStaticContent(text, {
      'content-type': 'text/html; charset=UTF-8',
      'content-security-policy': policy,
    })
  })
  return {
    path: '/docs',
    describe: async () => (await import('../descriptions.ts')).docs,
    handle: async (context) => sendStaticContent(context, await page()),
  }
}
