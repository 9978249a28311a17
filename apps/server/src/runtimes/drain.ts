/** Ends an HTTP server so that no request that was sent loses its response. */
import { type Server as HttpServer, ServerResponse } from 'node:http'
import { Server } from 'node:net'
import { setImmediate, setTimeout } from 'node:timers/promises'
import type { OneAtATime } from './one-at-a-time.ts'

const POLL_MS = 5
/** The listener closes when no connection has arrived for so long, in milliseconds, … */
const QUIET_MS = 50
/** … or after so long. */
const LONGEST_HOLD_MS = 500
/** How long what is left of requests has after the last event. */
const LONGEST_REST_MS = 5_000
/** How long idle connections stay in development, where nobody wants to wait. Busy senders use them in this time. */
const HASTY_IDLE_MS = 200

/** Options of {@link createDrain}. */
export interface DrainOptions extends Pick<OneAtATime, 'hasWaiting'> {
  /** Senders stop using a connection that was idle for so long, in milliseconds. */
  keepAliveMs: number
}

/** Follows the requests of a server from now on. */
export function createDrain(server: HttpServer, { keepAliveMs, hasWaiting }: DrainOptions) {
  // A number: V8 keeps what a set held that changes with each request, long after it was removed.
  let underWay = 0
  let isLeaving = false
  let held: Promise<void> | undefined
  let lastConnectionAt = 0
  server.on('connection', () => {
    lastConnectionAt = performance.now()
  })
  server.prependListener('request', (_: unknown, response: ServerResponse) => {
    response.shouldKeepAlive &&= !isLeaving
    underWay += 1
    response.on('close', finish)
  })
  function finish(): void {
    underWay -= 1
  }

  /**
   * Closes the listener. The kernel resets connections that were not accepted yet, with the request that was sent on
   * them. So requests wait meanwhile: a sender that waits for a response opens no connection.
   */
  async function closeListener(): Promise<{ closed: Promise<void> }> {
    const { promise, resolve: release } = Promise.withResolvers<void>()
    held = promise
    const begun = performance.now()
    lastConnectionAt = begun
    while (performance.now() - lastConnectionAt < QUIET_MS) {
      if (performance.now() - begun > LONGEST_HOLD_MS) break
      await setTimeout(POLL_MS)
    }
    // Right after the loop has looked for connections.
    await setImmediate()
    const closed = new Promise<void>((resolve) => {
      // `close` of an HTTP server would also close idle connections, on which a request may arrive right now.
      Server.prototype.close.call(server, () => resolve())
    })
    held = undefined
    release()
    await setImmediate()
    return { closed }
  }

  return {
    /** Requests without a complete response. */
    get underWay(): number {
      return underWay
    },
    /** Runs the work of a request, now or when the listener has closed. */
    async admit(outgoing: object, work: () => Response | Promise<Response>): Promise<Response> {
      if (held) await held
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
      const { closed } = await closeListener()
      const idle = setTimeout(idleMs > 0 ? keepAliveMs - idleMs : HASTY_IDLE_MS)
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
