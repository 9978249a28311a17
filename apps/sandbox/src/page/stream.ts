/**
 * Tells every open page about changes, as server-sent events.
 *
 * @module
 */
import type { TimelineEntry } from '../world/timeline.ts'

/** The pages that listen. */
export interface Stream {
  /** Reports a changed event, or a change outside the timeline. */
  changed(entry?: TimelineEntry): void
  /** The response to a page that begins to listen. */
  open(signal: AbortSignal): Response
  close(): void
}

/** Changes within this time go into one message. */
const COLLECT_MS = 60
const HEARTBEAT_MS = 15_000
/** A page with more unread messages is gone or asleep; it connects again when it wakes up. */
const MOST_UNREAD = 100

/** Makes a stream without listeners. */
export function createStream(): Stream {
  const encoder = new TextEncoder()
  const listeners = new Set<ReadableStreamDefaultController<Uint8Array>>()
  const waiting = new Map<number, [number: number, calls: number, source: string]>()
  let timer: NodeJS.Timeout | undefined

  function drop(listener: ReadableStreamDefaultController<Uint8Array>): void {
    if (listeners.delete(listener)) listener.close()
  }

  function send(text: string): void {
    for (const listener of listeners) {
      if ((listener.desiredSize ?? 0) < -MOST_UNREAD) drop(listener)
      else listener.enqueue(encoder.encode(text))
    }
  }

  function flush(): void {
    timer = undefined
    send(`event: change\ndata: ${JSON.stringify({ entries: [...waiting.values()] })}\n\n`)
    waiting.clear()
  }

  const heartbeat = setInterval(() => send(': heartbeat\n\n'), HEARTBEAT_MS)
  heartbeat.unref()

  return {
    changed(entry) {
      if (listeners.size === 0) return
      if (entry) waiting.set(entry.number, [entry.number, entry.calls.length, entry.source ?? ''])
      timer ??= setTimeout(flush, COLLECT_MS)
    },
    open(signal) {
      let own: ReadableStreamDefaultController<Uint8Array> | undefined
      const body = new ReadableStream<Uint8Array>({
        start(listener) {
          own = listener
          listeners.add(listener)
          listener.enqueue(encoder.encode('retry: 1000\n\n'))
          signal.addEventListener('abort', () => drop(listener), { once: true })
        },
        cancel() {
          if (own) listeners.delete(own)
        },
      })
      return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
    },
    close() {
      clearInterval(heartbeat)
      clearTimeout(timer)
      for (const listener of listeners) drop(listener)
    },
  }
}
