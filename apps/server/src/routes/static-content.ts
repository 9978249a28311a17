/** Content that is made once: all responses share its bytes, so one that nobody reads takes no memory. */
import type { Context } from 'hono'
import { etag, RETAINED_304_HEADERS } from 'hono/etag'

/** The bytes, and the headers of the response. */
export interface StaticContent {
  bytes: Uint8Array<ArrayBuffer>
  headers: Record<string, string>
}

/** Encodes a text, and adds its `ETag` to the headers. */
export async function toStaticContent(text: string, headers: Record<string, string>): Promise<StaticContent> {
  const bytes = new TextEncoder().encode(text)
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-1', bytes))
  return { bytes, headers: { ...headers, etag: `"${btoa(String.fromCharCode(...digest))}"` } }
}

// A browser that has the page takes the policy of the 304 for it.
const withETag = etag({ retainedHeaders: [...RETAINED_304_HEADERS, 'content-security-policy'] })

/** Answers with the content, or with 304 to a client that has it. */
export async function sendStaticContent(
  context: Context,
  { bytes, headers }: StaticContent,
): Promise<Response> {
  await withETag(context, async () => {
    context.res = context.body(bytes, 200, headers)
  })
  return context.res
}
