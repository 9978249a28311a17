/** An HTTP server that works on one request of a connection at a time, and cuts peers that do not read. */
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http'
import type { Socket } from 'node:net'

/** On all connections. A request that waits takes 3 kB, and one read of a socket can hold 2,600 of them. */
const MOST_WAITING = 10_000
/** Node looks for progress once in this time, so a peer that reads nothing is cut after 30 seconds at most. In milliseconds. */
const UNREAD_MS = 15_000

/** Options of {@link createOneAtATime}, beside those of Node. */
export interface OneAtATimeOptions extends ServerOptions {
  /** The server cuts a peer that reads nothing of its response for one to two of these times, in milliseconds. @default 15,000 */
  unreadMs?: number
}

/** A server, and its requests that wait. */
export interface OneAtATime {
  server: Server
  /** Whether a request waits for the response that is under way on a connection. */
  hasWaiting(socket: Socket | null): boolean
}

/**
 * Creates the server. A pipelined request begins when the kernel has taken the response before it, and other
 * connections had their turn. The server reads no more of a connection on which a request waits.
 *
 * @param work answers a request
 */
export function createOneAtATime(
  { unreadMs = UNREAD_MS, ...options }: OneAtATimeOptions,
  work: RequestListener,
): OneAtATime {
  const waiting = new Map<Socket, number>()
  let allWaiting = 0

  function keepPaused(this: Socket): void {
    if (waiting.has(this)) this.pause()
  }

  function count(socket: Socket, change: 1 | -1): void {
    const before = waiting.get(socket) ?? 0
    allWaiting += change
    waiting.set(socket, before + change)
    if (before === 0) {
      // Node resumes the socket at the end of each request, and when its buffer is empty.
      socket.on('resume', keepPaused).pause()
    } else if (before + change === 0) {
      waiting.delete(socket)
      socket.off('resume', keepPaused).resume()
    }
  }

  function wait(socket: Socket, outgoing: ServerResponse, begin: () => void): void {
    if (allWaiting >= MOST_WAITING) {
      socket.destroy()
      return
    }
    const leave = () => count(socket, -1)
    const next = () => {
      // Closed meanwhile: it has left, and nobody waits for its response.
      if (!outgoing.listeners('close').includes(leave)) return
      outgoing.off('close', leave)
      leave()
      begin()
    }
    count(socket, 1)
    outgoing.once('close', leave)
    outgoing.once('socket', () => setImmediate(next))
  }

  function begin(incoming: IncomingMessage, outgoing: ServerResponse): void {
    outgoing.on('timeout', cutUnread)
    const answer = namesItsHost(incoming) ? work : refuse
    // Node gives a response its socket when the one before has left, which may be within one read of the connection.
    if (outgoing.socket) answer(incoming, outgoing)
    else wait(incoming.socket, outgoing, () => answer(incoming, outgoing))
  }

  // Node would answer requests without a host, and other expectations than `100-continue`, past the queue.
  const server = createServer({ ...options, requireHostHeader: false }, begin)
  server.on('checkExpectation', begin)
  server.setTimeout(unreadMs)
  return { server, hasWaiting: (socket) => socket !== null && waiting.has(socket) }
}

/** For Node, a long event is as silent as a peer that does not read. */
function cutUnread(this: ServerResponse): void {
  if (this.socket && this.socket.writableLength > 0) this.socket.destroy()
}

/** A proxy may take another one of two than the host. */
function namesItsHost({ rawHeaders, httpVersion }: IncomingMessage): boolean {
  let hosts = 0
  for (let at = 0; at < rawHeaders.length; at += 2) if (/^host$/i.test(rawHeaders[at] ?? '')) hosts += 1
  return hosts === 1 || (hosts === 0 && httpVersion !== '1.1')
}

function refuse(_: IncomingMessage, outgoing: ServerResponse): void {
  outgoing.writeHead(400, { connection: 'close' }).end()
}
