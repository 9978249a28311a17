import { createServer, type IncomingMessage, type RequestListener } from 'node:http'

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
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return {
    host: `127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`,
    server,
    requests,
    connections: () => connections,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}
