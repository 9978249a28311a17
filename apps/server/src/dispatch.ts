/**
 * Sending a request through a chosen set of connections.
 *
 * @module
 */
import { type Dispatcher, fetch as undiciFetch } from 'undici'

/** Sends a request through `dispatcher`, without following redirects. */
export async function fetchThrough(request: Request, dispatcher: Dispatcher): Promise<Response> {
  const response = await undiciFetch(request.url, {
    method: request.method,
    headers: [...request.headers],
    body: request.body ? new Uint8Array(await request.arrayBuffer()) : null,
    signal: request.signal,
    redirect: 'manual',
    dispatcher,
  })
  return new Response(response.body ? toStream(response.body[Symbol.asyncIterator]()) : null, {
    status: response.status,
    headers: [...response.headers],
  })
}

// undici and the platform declare streams of two kinds; bytes are what they agree on.
function toStream(chunks: AsyncIterator<Uint8Array<ArrayBuffer>>): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await chunks.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    async cancel() {
      await chunks.return?.()
    },
  })
}
