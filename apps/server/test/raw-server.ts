import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import type { Server } from 'node:net'

/** Lets a server listen on a free port of an interface, and resolves with the port. */
export async function portOf(server: Server, address = '127.0.0.1'): Promise<number> {
  await once(server.listen(0, address), 'listening')
  const bound = server.address()
  return typeof bound === 'object' && bound ? bound.port : 0
}

/** A request with its body. */
interface RawRequest extends Pick<IncomingMessage, 'method' | 'url' | 'headers'> {
  body: string
}

/** Starts a server that may answer anything, and that counts connections on which nothing is sent, too. */
export async function listen(listener: RequestListener) {
  const requests: RawRequest[] = []
  let connections = 0
  const server = createServer(async (request, response) => {
    const { method, url, headers } = request
    let body = ''
    for await (const chunk of request) body += chunk
    requests.push({ method, url, headers, body })
    listener(request, response)
  })
  server.on('connection', () => {
    connections += 1
  })
  return {
    host: `127.0.0.1:${await portOf(server)}`,
    server,
    requests,
    connections: () => connections,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}
