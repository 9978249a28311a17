/** Ends an HTTP server so that its requests get their responses. */
import { type Server as HttpServer, ServerResponse } from 'node:http'
import { Server } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import type { OneAtATime } from './one-at-a-time.ts'

const POLL_MS = 5
/** How long what is left of requests has after the last event. */
const LONGEST_REST_MS = 5_000
/** How long idle connections stay: a sender that has seen `/readyz` uses them no more. */
const IDLE_MS = 6_000
/** The same in development, where nobody wants to wait. Busy senders use them in this time. */
const HASTY_IDLE_MS = 200

/** Follows the requests of a server from now on. */
export function createDrain(server: HttpServer, { hasWaiting }: Pick<OneAtATime, 'hasWaiting'>) {
  let underWay = 0
  let isLeaving = false
  const closed = new Promise<void>((resolve) => server.once('close', () => resolve()))
  server.prependListener('request', (_: unknown, response: ServerResponse) => {
    response.shouldKeepAlive &&= !isLeaving
    underWay += 1
    response.on('close', () => {
      underWay -= 1
    })
  })

  return {
    /** Requests without a complete response. */
    get underWay(): number {
      return underWay
    },
    /** Runs the work of a request. */
    async admit(outgoing: object, work: () => Response | Promise<Response>): Promise<Response> {
      const response = await work()
      // A request that waits on the connection gets its response, too.
      if (isLeaving && outgoing instanceof ServerResponse && !hasWaiting(outgoing.socket))
        outgoing.shouldKeepAlive = false
      return response
    },
    /**
     * From now on, each response carries `Connection: close`. Closes the listener after the delay, and idle connections
     * when no sender uses them any more: until then, a request on one of them is like any other.
     */
    async leave(delayMs: number): Promise<void> {
      isLeaving = true
      await setTimeout(delayMs)
      // `close` of an HTTP server would also close idle connections, on which a request may arrive right now.
      Server.prototype.close.call(server)
      const idle = setTimeout(delayMs > 0 ? Math.max(0, IDLE_MS - delayMs) : HASTY_IDLE_MS)
      await Promise.race([closed, idle])
      server.closeIdleConnections()
    },
    /** Closes the other connections, after the last event. */
    async close(): Promise<void> {
      // Responses that leave, and bodies of which nobody knows who sends them.
      const latest = performance.now() + LONGEST_REST_MS
      while (underWay > 0 && performance.now() < latest) await setTimeout(POLL_MS)
      // The connections that are left have no request, or a part of one.
      server.closeAllConnections()
      await closed
    },
  }
}
