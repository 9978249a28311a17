import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { createServer as createTlsServer } from 'node:tls'
import { cert, key } from '../../tooling/runtimes/certificate.ts'
import { createHttp2Gateway } from '../shared/http2-gateway.ts'

/** TLS in front of a server, which offers HTTP/1.1 alone. */
const secure = (port: number): Server =>
  createTlsServer({ cert, key }, (client) => {
    const upstream = connect(port, '127.0.0.1')
    client.pipe(upstream).pipe(client)
    for (const socket of [client, upstream]) socket.on('error', () => {})
  })

/**
 * Puts a server behind TLS and a slow network: bytes take half a round trip in each direction, and the first ones of a
 * connection a whole one more, for the handshake of TCP.
 *
 * @param port of the server, on the loopback interface
 */
export async function startSlowNetwork(port: number, roundTripMs: number, { offersHttp2 = false } = {}) {
  const secured = offersHttp2 ? createHttp2Gateway(() => port) : secure(port)
  const securedPort = await listen(secured)
  const network = createServer((client) => {
    const upstream = connect(securedPort, '127.0.0.1')
    forward(client, upstream, performance.now() + roundTripMs)
    forward(upstream, client, 0)
  })

  function forward(from: Socket, to: Socket, notBefore: number): void {
    // Each after the one before: timers of almost the same length may end in another order.
    let before: Promise<unknown> = Promise.resolve()
    const later = (work: () => void) => {
      const now = performance.now()
      before = Promise.all([before, pause(Math.max(now, notBefore) + roundTripMs / 2 - now)]).then(work)
    }
    from.setNoDelay()
    from.on('data', (bytes) => later(() => void (to.writable && to.write(bytes))))
    from.on('end', () => later(() => to.end()))
    from.on('error', () => to.destroy())
  }

  return {
    port: await listen(network),
    async stop() {
      network.close()
      secured.close()
    },
  }
}

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  return typeof address === 'object' && address ? address.port : 0
}
