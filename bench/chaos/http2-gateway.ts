import { Agent, request } from 'node:http'
import { createSecureServer } from 'node:http2'
import { cert, key } from '../../tooling/runtimes/certificate.ts'

/** A server that offers HTTP/2 and HTTP/1.1 over TLS, and passes calls on to a port of the loopback interface. */
export function createHttp2Gateway(port: number) {
  const agent = new Agent({ keepAlive: true })
  return createSecureServer({ cert, key, allowHTTP1: true }, (call, response) => {
    const { method, url: path, headers } = call
    const own = Object.entries(headers).filter(([name]) => !name.startsWith(':'))
    const upstream = request({ agent, port, method, path, headers: Object.fromEntries(own) }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, { 'content-type': 'application/json' })
      answer.pipe(response)
    })
    // The server behind it has cut the connection, and so does the gateway.
    upstream.on('error', () => call.socket.destroy())
    call.pipe(upstream)
  })
}
