import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

/**
 * Starts a TCP proxy that knows nothing of what it forwards, like a balancer of a network.
 *
 * @param choose the port that a new connection leads to; without one it is closed
 * @param ownPort where it listens; by default, where a port is free
 */
export async function startForwarder(choose: () => number | undefined, ownPort = 0) {
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const port = choose()
    if (port === undefined) return void client.destroy()
    const upstream = connect(port, '127.0.0.1')
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket.on('error', () => {}))
      socket.on('close', () => {
        sockets.delete(socket)
        other.destroy()
      })
    }
    client.pipe(upstream).pipe(client)
  }).listen(ownPort, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    port: typeof address === 'object' && address ? address.port : 0,
    /** Closes every connection. */
    cut,
    close() {
      cut()
      server.close()
    },
  }
}
