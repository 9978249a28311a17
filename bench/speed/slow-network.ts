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
  const network = createServer(async (client) => {
    // The handshake of TCP. The kernel keeps what the client sends meanwhile.
    await pause(roundTripMs)
    const upstream = connect(securedPort, '127.0.0.1')
    forward(client, upstream)
    forward(upstream, client)
  })

  function forward(from: Socket, to: Socket): void {
    from.setNoDelay()
    // Timers of the same length end in the order in which they began.
    from.on('data', (bytes) => setTimeout(() => to.writable && to.write(bytes), roundTripMs / 2))
    from.on('end', () => setTimeout(() => to.end(), roundTripMs / 2))
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
