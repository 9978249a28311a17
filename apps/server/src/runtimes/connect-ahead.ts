/**
 * Opens connections ahead of the calls that use them. A server may close a connection that it answered on at the moment
 * of the next call, and nobody knows whether that call arrived. A connection that carried no call has no such moment,
 * and spares the call its handshakes.
 */
import type { Socket } from 'node:net'
import type { buildConnector } from 'undici'

/** Servers wait longer for the first call of a connection. In milliseconds. */
const LONGEST_WAIT_MS = 1_000
/**
 * Connections that wait for a call, to one origin. A server that closes them all at the moment of their calls leaves so
 * many outcomes unknown, once; and a gateway that limits connections sees so many more of them.
 */
const MOST_WAITING = 2
/** A server that closes such a connection gets new ones alone for so long. In milliseconds. */
const DISTRUST_MS = 60 * 60 * 1000
const ENDS = ['data', 'end', 'error', 'close'] as const

interface Origin {
  lastCallAt: number
  /** Of TLS. undici's own memory of it does not hold it. */
  session?: unknown
  distrustedUntil: number
  waiting: Set<Ahead>
  cleaning: NodeJS.Timeout
}

/** A connection that carried no call. */
interface Ahead {
  since: number
  /** Once it stands. */
  socket?: Socket
  /** Ends it because it is not needed. */
  end(): void
  /** Is called when the server ends it. */
  onEnd(): void
}

/**
 * Makes a connector that opens the next connection to an origin with each call, while calls follow one another within
 * a second.
 *
 * @param connectOnce opens one connection
 */
export function connectAhead(connectOnce: buildConnector.connector): buildConnector.connector {
  const origins = new Map<string, Origin>()

  function originOf({ protocol, hostname, port, servername = '' }: buildConnector.Options): Origin {
    const key = [protocol, hostname, port, servername].join(' ')
    const known = origins.get(key)
    if (known) return known
    const cleaning = setTimeout(() => {
      for (const ahead of origin.waiting) ahead.end()
      if (origin.distrustedUntil < Date.now()) origins.delete(key)
    }, LONGEST_WAIT_MS).unref()
    const origin: Origin = { lastCallAt: 0, distrustedUntil: 0, waiting: new Set(), cleaning }
    origins.set(key, origin)
    return origin
  }

  const connect = (origin: Origin, ...[options, callback]: Parameters<buildConnector.connector>) =>
    connectOnce(options, (...result) => {
      result[1]?.on('session', (session) => {
        origin.session = session
      })
      callback(...result)
    })

  function open(origin: Origin, options: buildConnector.Options): void {
    const ahead: Ahead = {
      since: Date.now(),
      end() {
        origin.waiting.delete(ahead)
        ahead.socket?.off('close', ahead.onEnd).destroy()
      },
      onEnd() {
        distrust(origin)
        ahead.end()
      },
    }
    origin.waiting.add(ahead)
    connect(origin, options, (error, socket) => {
      if (error) return ahead.end()
      if (!origin.waiting.has(ahead)) return socket.destroy()
      ahead.socket = socket.unref()
      // Nothing is due before the first call: a server that says something is about to close.
      for (const event of ENDS) socket.on(event, ahead.onEnd)
    })
  }

  function distrust(origin: Origin): void {
    origin.distrustedUntil = Date.now() + DISTRUST_MS
    for (const ahead of origin.waiting) ahead.end()
  }

  /** Nobody knows whether a call arrived whose connection ends without an answer. */
  function distrustOnBreak(origin: Origin, socket: Socket): void {
    const { bytesRead } = socket
    socket.once('close', () => socket.bytesRead === bytesRead && distrust(origin))
  }

  return (options, callback) => {
    const origin = originOf(options)
    const now = Date.now()
    const isBusy = now - origin.lastCallAt < LONGEST_WAIT_MS
    origin.lastCallAt = now
    origin.cleaning.refresh()
    // The clock also tells of a process that was stopped for a while.
    for (const ahead of origin.waiting) if (Math.abs(now - ahead.since) > LONGEST_WAIT_MS) ahead.end()
    const ready = [...origin.waiting].find(({ socket }) => socket)
    const socket = ready?.socket
    if (socket) {
      origin.waiting.delete(ready)
      // By then the loop has told whether the server has closed the connection.
      setImmediate(() => {
        if (socket.destroyed) return connect(origin, options, callback)
        for (const event of ENDS) socket.off(event, ready.onEnd)
        distrustOnBreak(origin, socket)
        callback(null, socket.pause().ref())
      })
    } else connect(origin, options, callback)
    if (isBusy && origin.distrustedUntil < now && origin.waiting.size < MOST_WAITING) open(origin, options)
  }
}
