/**
 * Tells every open page what changed, as server-sent events.
 *
 * @module
 */

/** What changed since the last message. */
interface Change {
  /** The event's number, how many calls it has by now, and who delivered it. */
  entries: [number: number, calls: number, source: string][]
}

/** The pages that listen. */
export interface Stream {
  changed(entry?: { number: number; calls: readonly unknown[]; source: string | undefined }): void
  /** Answers a page that begins to listen. */
  open(signal: AbortSignal): Response
  close(): void
}

/** Changes that come close together are told in one message. */
const TOGETHER_MS = 60
const HEARTBEAT_MS = 15_000
/** A page that reads so little is gone, or asleep; it asks again when it wakes up. */
const MOST_UNREAD = 100

/** Makes a stream without listeners. */
export function createStream(): Stream {
  const encoder = new TextEncoder()
  const listeners = new Set<ReadableStreamDefaultController<Uint8Array>>()
  let waiting = new Map<number, [number, number, string]>()
  let timer: NodeJS.Timeout | undefined

  function drop(listener: ReadableStreamDefaultController<Uint8Array>): void {
    // Where it was cancelled from the other side, it is gone from the listeners already.
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
    const change: Change = { entries: [...waiting.values()] }
    waiting = new Map()
    send(`event: change\ndata: ${JSON.stringify(change)}\n\n`)
  }

  const heartbeat = setInterval(() => send(': still here\n\n'), HEARTBEAT_MS)
  heartbeat.unref()

  return {
    changed(entry) {
      if (listeners.size === 0) return
      if (entry) waiting.set(entry.number, [entry.number, entry.calls.length, entry.source ?? ''])
      timer ??= setTimeout(flush, TOGETHER_MS)
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
