import { hash } from 'node:crypto'
import { lazily, type Route } from './route.ts'

/**
 * Handles a route with content that is made when it is first asked for, and once: all responses share its bytes, so
 * one that nobody reads takes no memory. A client that has it gets 304.
 *
 * @param make makes the text, and the headers of the response
 */
export function staticContent(
  make: () => Promise<{ text: string; headers: Record<string, string> }>,
): Route['handle'] {
  const content = lazily(async () => {
    const { text, headers } = await make()
    const etag = `"${hash('sha1', text, 'base64')}"`
    return { etag, bytes: new TextEncoder().encode(text), headers: { ...headers, etag } }
  })
  return async (context) => {
    const { etag, bytes, headers } = await content()
    // A proxy that compresses makes it a weak one, and a client may name several.
    const isKnown = context.req.header('if-none-match')?.includes(etag) ?? false
    // A browser that has the page takes the policy of the 304 for it.
    return isKnown ? context.body(null, 304, headers) : context.body(bytes, 200, headers)
  }
}
