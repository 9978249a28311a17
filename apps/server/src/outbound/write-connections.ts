/**
 * The connections for calls that have an effect. A server may close a kept connection at the moment of the next call.
 * Over HTTP/1.1 nobody knows then whether that call arrived, so each call has a connection of its own. HTTP/2 tells
 * which calls were not processed, by GOAWAY and REFUSED_STREAM, and undici repeats those: a server that offers HTTP/2
 * gets many calls over one connection.
 */
import type { Dispatcher } from 'undici'
import { lazily } from '../routes/route.ts'
import { type Connection, type OutgoingRequest, SHORT_BODY } from './outbound.ts'
import { loadUndici, sendOver } from './transport.ts'

/** A connection that was silent for longer may be gone, so it carries no write. In milliseconds. */
const LONGEST_SILENCE_MS = 1_000
/** Calls at a time over one connection; undici's own limit for HTTP/2. */
const MOST_STREAMS = 100

interface Server {
  /** Opens a connection for each call. */
  alone?: Dispatcher
  /** Sends many calls over one connection. */
  shared?: Dispatcher | undefined
  /** When it last answered on the shared connection, in milliseconds since 1970. */
  heardAt: number
  offersHttp2: boolean
}

/** Connects to providers for writes: one call a connection, or many over HTTP/2 while the server answers. */
export function connectForWrites(): Connection {
  const servers = new Map<string, Server>()
  const library = lazily(async () => {
    const { Pool, buildConnector } = await loadUndici()
    const { createSecureContext } = await import('node:tls')
    // A context for each connection is a third of a handshake.
    const secureContext = createSecureContext()
    const connect = buildConnector({ preferH2: true, secureContext })
    return {
      Pool,
      connect,
      connectAlone: buildConnector({ allowH2: false, keepAlive: false, secureContext }),
    }
  })

  return sendOver(async (origin, body) => {
    const { Pool, connect, connectAlone } = await library()
    const server = servers.get(origin) ?? { heardAt: 0, offersHttp2: origin.startsWith('https:') }
    servers.set(origin, server)
    if (!server.offersHttp2 || !isShareable(body)) {
      server.alone ??= new Pool(origin, { pipelining: 1, connect: connectAlone })
      return { dispatcher: server.alone, reset: true }
    }
    const now = Date.now()
    // The clock also tells of a process that was stopped for a while.
    if (Math.abs(now - server.heardAt) > LONGEST_SILENCE_MS) drop(server)
    if (!server.shared) {
      server.heardAt = now
      server.shared = new Pool(origin, {
        keepAliveTimeout: LONGEST_SILENCE_MS,
        // Otherwise, calls that a GOAWAY refuses wait for those that it accepts.
        pipelining: MOST_STREAMS,
        connect: (target, callback) =>
          connect(target, (...result) => {
            const [, socket] = result
            if (socket) server.offersHttp2 = 'alpnProtocol' in socket && socket.alpnProtocol === 'h2'
            callback(...result)
          }),
      })
    }
    const { shared } = server
    return {
      dispatcher: shared,
      reset: true,
      onAnswer() {
        server.heardAt = Date.now()
      },
      onLoss() {
        if (server.shared === shared) drop(server)
      },
    }
  })
}

/** Lets the calls under way end, and gives the next one a new connection. */
function drop(server: Server): void {
  server.shared?.close().catch(() => {})
  server.shared = undefined
}

/** A stream can't be repeated after a GOAWAY, and a long body would wait for the server's windows. */
function isShareable(body: OutgoingRequest['body']): boolean {
  return !(body instanceof ReadableStream) && (body?.length ?? 0) <= SHORT_BODY
}
