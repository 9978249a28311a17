import type { IncomingMessage, ServerResponse } from 'node:http'
import { isConnectionCut } from './faults.ts'

/** A running server. */
export interface Served {
  /** Without a slash at the end. */
  url: string
  port: number
  /** Ends all connections at once, and resolves when the port is free. */
  close(): Promise<void>
}

type Handler = (request: Request) => Promise<Response>

/**
 * Serves a fetch handler over real HTTP on the loopback interface, on Node, which is imported when it is called.
 *
 * The signal of the request aborts when the client leaves. A thrown `ConnectionCut` cuts the connection; any
 * other exception is answered with status 500.
 *
 * @param options.port the port; by default, a free one
 */
export async function serve(
  handler: Handler,
  { port = 0 }: { port?: number | undefined } = {},
): Promise<Served> {
  const { createServer } = await import('node:http')
  // It closes no idle connection, on which a request may arrive right now: a busy machine notices late.
  const options = { keepAliveTimeout: 0 }
  const server = createServer(options, (incoming, outgoing) => void exchange(handler, incoming, outgoing))
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  const address = server.address()
  const actual = typeof address === 'object' && address !== null ? address.port : port
  return {
    url: `http://127.0.0.1:${actual}`,
    port: actual,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function exchange(handler: Handler, incoming: IncomingMessage, outgoing: ServerResponse) {
  // A broken connection is the client's business, or a fault on demand.
  incoming.on('error', () => {})
  outgoing.on('error', () => {})
  try {
    const response = await handler(await toRequest(incoming, outgoing))
    outgoing.writeHead(response.status, [...response.headers].flat())
    for await (const chunk of (incoming.method !== 'HEAD' && response.body) || []) {
      if (outgoing.destroyed) return
      await new Promise((resolve) => outgoing.write(chunk, resolve))
    }
    outgoing.end()
  } catch (error) {
    if (isConnectionCut(error) || outgoing.headersSent) return void incoming.socket.destroy()
    const reason = error instanceof Error ? error.message : String(error)
    outgoing.writeHead(500, { 'content-type': 'text/plain; charset=utf-8' })
    outgoing.end(`The handler failed: ${reason}`)
  }
}

async function toRequest(incoming: IncomingMessage, outgoing: ServerResponse): Promise<Request> {
  const left = new AbortController()
  outgoing.on('close', () => {
    if (!outgoing.writableFinished) left.abort(new DOMException('The client left.', 'AbortError'))
  })
  const headers = new Headers()
  for (const [name, values] of Object.entries(incoming.headersDistinct))
    for (const value of values ?? []) headers.append(name, value)
  const { method = 'GET', url = '/' } = incoming
  const body = method === 'GET' || method === 'HEAD' ? null : new Blob(await incoming.toArray())
  const init = { method, headers, body, signal: left.signal }
  return new Request(`http://${incoming.headers.host ?? 'localhost'}${url}`, init)
}
