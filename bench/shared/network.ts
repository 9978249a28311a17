/** The ways between processes: proxies of TCP, of TLS and of HTTP/2. */
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { createSecureServer } from 'node:http2'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { Transform } from 'node:stream'
import { createServer as createTlsServer } from 'node:tls'
import { cert, key } from '../../tooling/runtimes/certificate.ts'
import { pause } from './clock.ts'

/** Lets a server listen on the loopback interface, and resolves with its port. */
export async function listen(server: Server, port = 0): Promise<number> {
  await once(server.listen(port, '127.0.0.1'), 'listening')
  const address = server.address()
  return typeof address === 'object' && address ? address.port : port
}

/**
 * Starts a proxy that knows nothing of what it forwards, like a balancer of a network.
 *
 * @param choose the port that a new connection leads to; without one it is closed
 * @param options.port where it listens; by default, where a port is free
 * @param options.isSecure whether it takes connections over TLS
 * @param options.roundTripMs the time that bytes take to the server and back, and the handshake of TCP, too
 */
export async function startForwarder(
  choose: () => number | undefined,
  { port: ownPort = 0, isSecure = false, roundTripMs = 0 } = {},
) {
  const sockets = new Set<Socket>()
  async function forward(client: Socket): Promise<void> {
    client.on('error', () => {})
    // The kernel keeps what the client sends meanwhile.
    if (roundTripMs > 0) await pause(roundTripMs)
    const port = choose()
    if (port === undefined) return void client.destroy()
    const upstream = connect({ port, host: '127.0.0.1', noDelay: true }).on('error', () => {})
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      socket.on('error', () => other.destroy()).on('close', () => sockets.delete(socket))
      sockets.add(socket)
      socket.pipe(delay(roundTripMs / 2)).pipe(other)
    }
  }
  const options = { noDelay: true, cert, key }
  const server = isSecure ? createTlsServer(options, forward) : createServer(options, forward)
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    port: await listen(server, ownPort),
    /** Closes every connection. */
    cut,
    close() {
      cut()
      server.close()
    },
  }
}

/** A stream that passes bytes on after some time. Timers of the same length end in the order in which they began. */
function delay(ms: number): Transform {
  const wait = (work: () => void) => void (ms > 0 ? setTimeout(work, ms) : work())
  return new Transform({
    transform(bytes, _, done) {
      wait(() => this.push(bytes))
      done()
    },
    flush: wait,
  })
}

/** Makes a server that offers HTTP/2 and HTTP/1.1 over TLS, and passes calls on to a port of the loopback interface. */
export function createHttp2Gateway(port: () => number) {
  const agent = new Agent({ keepAlive: true })
  return createSecureServer({ cert, key, allowHTTP1: true }, (call, response) => {
    const { method, url: path, headers } = call
    const own = Object.entries(headers).filter(([name]) => !name.startsWith(':'))
    const passed = { agent, port: port(), method, path, headers: Object.fromEntries(own) }
    const upstream = request(passed, (answer) => {
      response.writeHead(answer.statusCode ?? 502, { 'content-type': 'application/json' })
      answer.pipe(response)
    })
    // The server behind it has cut the connection, and so does the gateway.
    upstream.on('error', () => call.socket.destroy())
    call.pipe(upstream)
  })
}
