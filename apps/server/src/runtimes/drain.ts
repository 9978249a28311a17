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
    /** From now on, each response carries `Connection: close`. The server still accepts connections. */
    leave(): void {
      isLeaving = true
    },
    /**
     * Closes the listener, and the connections when nothing is under way on them.
     *
     * @param finish resolves when no event is under way
     * @param idleMs for how long every idle connection has been idle: the time since `leave`
     */
    async close(finish: () => Promise<void>, idleMs: number): Promise<void> {
      const closed = new Promise<void>((resolve) => {
        // `close` of an HTTP server would also close idle connections, on which a request may arrive right now.
        Server.prototype.close.call(server, () => resolve())
      })
      const idle = setTimeout(idleMs > 0 ? Math.max(0, IDLE_MS - idleMs) : HASTY_IDLE_MS)
      const finished = finish()
      await Promise.race([closed, idle])
      await finished
      // Responses that leave, and bodies of which nobody knows who sends them.
      const latest = performance.now() + LONGEST_REST_MS
      while (underWay > 0 && performance.now() < latest) await setTimeout(POLL_MS)
      // The connections that are left have no request, or a part of one.
      server.closeAllConnections()
      await closed
    },
  }
}
