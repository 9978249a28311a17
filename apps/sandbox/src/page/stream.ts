/**
 * Tells every open page about changes, as server-sent events.
 *
 * @module
 */

/** The pages that listen. */
export type Stream = ReturnType<typeof createStream>

/** Changes within this time go into one message. */
const COLLECT_MS = 60
/** A page with more unread messages is asleep, and needs no further one. */
const MOST_UNREAD = 16

/** Makes a stream without listeners. */
export function createStream() {
  const encoder = new TextEncoder()
  const listeners = new Set<ReadableStreamDefaultController<Uint8Array>>()
  let timer: NodeJS.Timeout | undefined

  function drop(listener: ReadableStreamDefaultController<Uint8Array>): void {
    if (listeners.delete(listener)) listener.close()
  }

  function send(): void {
    timer = undefined
    for (const listener of listeners) {
      if ((listener.desiredSize ?? 0) > 0) listener.enqueue(encoder.encode('data: changed\n\n'))
    }
  }

  return {
    changed(): void {
      timer ??= setTimeout(send, COLLECT_MS)
    },
    /** The response to a page that begins to listen. */
    open(signal: AbortSignal): Response {
      const source: UnderlyingDefaultSource<Uint8Array> = {
        start(listener) {
          listeners.add(listener)
          listener.enqueue(encoder.encode('retry: 1000\n\n'))
          signal.addEventListener('abort', () => drop(listener), { once: true })
        },
      }
      const body = new ReadableStream(source, { highWaterMark: MOST_UNREAD })
      return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
    },
    close(): void {
      clearTimeout(timer)
      for (const listener of listeners) drop(listener)
    },
  }
}
