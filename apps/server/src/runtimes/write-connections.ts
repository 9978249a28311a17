/**
 * The connections for calls that have an effect. A server may close a kept connection at the moment of the next call.
 * Over HTTP/1.1 nobody knows then whether that call arrived, so a connection carries one call. HTTP/2 tells which calls
 * were not processed, by GOAWAY and REFUSED_STREAM, and undici repeats those: a server that offers it gets many calls
 * over one connection.
 */
import type { Dispatcher } from 'undici'
import { type Connection, type OutgoingRequest, SHORT_BODY } from '../outbound.ts'
import { lazily } from '../routes/route.ts'
import { connectAhead } from './connect-ahead.ts'
import { loadUndici, sendOver } from './transport.ts'

/** A connection that was silent for longer may be gone, so it carries no write. In milliseconds. */
const LONGEST_SILENCE_MS = 1_000
/** How long a server that lost a call, or that offers no HTTP/2, gets a new connection for each call. */
const ALONE_MS = 60 * 60 * 1000
/** Calls at a time over one connection; undici's own limit for HTTP/2. */
const MOST_STREAMS = 100

interface Server {
  /** Opens a connection for each call. */
  alone?: Dispatcher
  /** Sends many calls over one connection. */
  shared?: Dispatcher
  /** When it last answered on a shared connection, in milliseconds since 1970. */
  heardAt: number
  /** Until then, the host assumes that it offers no HTTP/2. */
  aloneUntil: number
  /** Until then, no connection carries a second call, because one lost a call. */
  distrustedUntil: number
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
      connectAlone: connectAhead(buildConnector({ allowH2: false, keepAlive: false, secureContext })),
    }
  })

  function serverOf(origin: string): Server {
    const known = servers.get(origin)
    if (known) return known
    const aloneUntil = origin.startsWith('https:') ? 0 : Number.POSITIVE_INFINITY
    const server = { heardAt: 0, aloneUntil, distrustedUntil: 0 }
    servers.set(origin, server)
    return server
  }

  return sendOver(async (origin, body) => {
    const { Pool, connect, connectAlone } = await library()
    const server = serverOf(origin)
    const now = Date.now()
    if (now < server.aloneUntil || !isShareable(body)) {
      server.alone ??= new Pool(origin, { allowH2: false, connect: connectAlone })
      return { dispatcher: server.alone, reset: true }
    }
    const isSilent = Math.abs(now - server.heardAt) > LONGEST_SILENCE_MS
    if (!server.shared || isSilent || now < server.distrustedUntil) {
      // The calls under way on it still end.
      server.shared?.close().catch(() => {})
      server.heardAt = now
      server.shared = new Pool(origin, {
        keepAliveTimeout: LONGEST_SILENCE_MS,
        // Otherwise, calls that a GOAWAY refuses wait for those that it accepts. Over HTTP/1.1, `reset` lets none follow.
        pipelining: MOST_STREAMS,
        connect: (target, callback) =>
          connect(target, (...result) => {
            const [, socket] = result
            const isMultiplexed = socket && 'alpnProtocol' in socket && socket.alpnProtocol === 'h2'
            if (socket && !isMultiplexed) server.aloneUntil = Date.now() + ALONE_MS
            callback(...result)
          }),
      })
    }
    return {
      dispatcher: server.shared,
      reset: true,
      onAnswer() {
        server.heardAt = Date.now()
      },
      onLoss() {
        server.distrustedUntil = Date.now() + ALONE_MS
      },
    }
  })
}

/** A stream can't be repeated after a GOAWAY, and a long body would wait for the server's windows. */
function isShareable(body: OutgoingRequest['body']): boolean {
  return !(body instanceof ReadableStream) && (body?.length ?? 0) <= SHORT_BODY
}
