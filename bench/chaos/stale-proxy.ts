import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

/** A proxy that passes one request on each connection. */
export interface StaleProxy {
  url: string
  /** The server behind the proxy. */
  target: string
  /** The connections that broke at a second request. */
  readonly broken: number
  close(): void
}

/**
 * Starts a proxy that cuts a connection at the first byte of its second request, like a provider that closes an
 * idle connection at the moment of the next request.
 */
export async function startStaleProxy(): Promise<StaleProxy> {
  const sockets = new Set<Socket>()
  let broken = 0
  const server = createServer((client) => {
    let answered = false
    const { hostname, port } = new URL(proxy.target)
    const upstream = connect(Number(port), hostname)
    for (const socket of [client, upstream]) sockets.add(socket.on('error', () => {}))
    client.on('data', (bytes) => {
      if (!answered) return void upstream.write(bytes)
      broken += 1
      client.destroy()
    })
    upstream.on('data', (bytes) => {
      answered = true
      client.write(bytes)
    })
    client.on('close', () => upstream.destroy())
    upstream.on('close', () => client.end())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const proxy: StaleProxy = {
    url: `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`,
    target: '',
    get broken() {
      return broken
    },
    close() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
  return proxy
}
