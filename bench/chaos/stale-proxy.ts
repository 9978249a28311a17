import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

/**
 * Starts a proxy that cuts a connection at the first byte of its second request, like a provider that closes an
 * idle connection at the moment of the next request.
 */
export async function startStaleProxy() {
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    let hasResponded = false
    const { hostname, port } = new URL(proxy.target)
    const upstream = connect(Number(port), hostname)
    for (const socket of [client, upstream]) sockets.add(socket.on('error', () => {}))
    client.on('data', (bytes) => {
      if (!hasResponded) return void upstream.write(bytes)
      proxy.broken += 1
      client.destroy()
    })
    upstream.on('data', (bytes) => {
      hasResponded = true
      client.write(bytes)
    })
    client.on('close', () => upstream.destroy())
    upstream.on('close', () => client.end())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const proxy = {
    url: `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`,
    /** The server behind the proxy. */
    target: '',
    /** The connections that broke at a second request. */
    broken: 0,
    close() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
  return proxy
}
