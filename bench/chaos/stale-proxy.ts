import { connect, createServer, type Socket } from 'node:net'

/** A proxy in front of a server, which uses no connection twice. */
export interface StaleProxy {
  url: string
  /** Connections on which a second request broke. */
  readonly broken: number
  close(): Promise<void>
}

/**
 * Passes one request on each connection, and cuts the connection at the first byte of a second one: as a
 * provider does that closes an idle connection at the very moment at which a client writes to it.
 */
export async function startStaleProxy(target: string): Promise<StaleProxy> {
  const { hostname, port } = new URL(target)
  const sockets = new Set<Socket>()
  let broken = 0
  const server = createServer((client) => {
    let answered = false
    const upstream = connect(Number(port), hostname)
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => sockets.delete(socket))
    }
    client.on('data', (bytes) => {
      if (!answered) return void upstream.write(bytes)
      broken += 1
      client.destroy()
      upstream.destroy()
    })
    upstream.on('data', (bytes) => {
      answered = true
      client.write(bytes)
    })
    client.on('close', () => upstream.destroy())
    upstream.on('close', () => client.end())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return {
    url: `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`,
    get broken() {
      return broken
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
