import { Agent, request } from 'node:http'
import { createSecureServer, type ServerHttp2Stream } from 'node:http2'
import { cert, key } from '../../tooling/runtimes/certificate.ts'

/**
 * A server that offers HTTP/2 and HTTP/1.1 over TLS, and passes calls on.
 *
 * @param port of the server behind it, on the loopback interface
 * @param refuse ends a call over HTTP/2 unprocessed and returns `true`, or returns `false`
 */
export function createHttp2Gateway(
  port: () => number,
  refuse: (stream: ServerHttp2Stream) => boolean = () => false,
) {
  const agent = new Agent({ keepAlive: true })
  return createSecureServer({ cert, key, allowHTTP1: true }, (call, response) => {
    if (call.httpVersionMajor === 2 && refuse(response.stream)) return
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
