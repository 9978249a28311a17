/** Tells every open page about changes, as server-sent events. */

/** The pages that listen. */
export type Stream = ReturnType<typeof createStream>

/** After a message, the changes within this time go into the next one. */
const COLLECT_MS = 50
/** A page with more unread messages is asleep, and needs no further one. */
const MOST_UNREAD = 16

/** Makes a stream without listeners. */
export function createStream() {
  const encoder = new TextEncoder()
  const listeners = new Set<WritableStreamDefaultWriter<Uint8Array>>()
  let timer: NodeJS.Timeout | undefined
  let missed = false

  function send(listener: WritableStreamDefaultWriter<Uint8Array>, text: string): void {
    // A page that has gone takes no further message.
    listener.write(encoder.encode(text)).catch(() => listeners.delete(listener))
  }

  function sendAll(): void {
    missed = false
    timer = setTimeout(() => {
      timer = undefined
      if (missed) sendAll()
    }, COLLECT_MS)
    for (const listener of listeners) {
      if ((listener.desiredSize ?? 1) > 0) send(listener, 'data: changed\n\n')
    }
  }

  return {
    changed(): void {
      if (timer) missed = true
      else sendAll()
    },
    /** The response to a page that begins to listen. */
    open(): Response {
      const { readable, writable } = new TransformStream({}, { highWaterMark: MOST_UNREAD })
      const listener = writable.getWriter()
      listeners.add(listener)
      send(listener, 'retry: 1000\n\n')
      return new Response(readable, { headers: { 'content-type': 'text/event-stream' } })
    },
    close(): void {
      clearTimeout(timer)
      for (const listener of listeners) listener.close().catch(() => {})
    },
  }
}
