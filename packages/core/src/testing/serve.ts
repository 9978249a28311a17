/**
 * Serves a fetch handler over real HTTP, on Node.
 *
 * @module
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { isConnectionCut } from './faults.ts'

/** Where {@link serve} listens. */
export interface ServeOptions {
  /** @default a free one */
  port?: number | undefined
  /** @default '127.0.0.1' */
  host?: string | undefined
}

/** A server that runs. */
export interface Served {
  /** Without a slash at the end. */
  url: string
  port: number
  /** Ends all connections at once, and resolves when the port is free. */
  close(): Promise<void>
}

/**
 * Serves a fetch handler, for example an emulator's `fetch`.
 *
 * The request's signal aborts when the client goes away. A thrown `ConnectionCut` cuts the connection; any
 * other exception is answered with status 500.
 *
 * @example
 * ```ts
 * const server = await serve(createMailProvider().fetch)
 * await fetch(`${server.url}/server`)
 * await server.close()
 * ```
 */
export async function serve(
  handler: (request: Request) => Promise<Response>,
  { port = 0, host = '127.0.0.1' }: ServeOptions = {},
): Promise<Served> {
  // Loaded here, so that the emulators beside it run where there is no Node.
  const { createServer } = await import('node:http')
  const server = createServer((incoming, outgoing) => {
    void exchange(handler, incoming, outgoing)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  const address = server.address()
  const actual = typeof address === 'object' && address !== null ? address.port : port
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${actual}`,
    port: actual,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function exchange(
  handler: (request: Request) => Promise<Response>,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  // A connection that breaks is the client's business, or a fault that was asked for.
  incoming.on('error', () => {})
  outgoing.on('error', () => {})
  try {
    const response = await handler(toRequest(incoming, outgoing))
    await send(response, incoming, outgoing)
  } catch (error) {
    if (isConnectionCut(error) || outgoing.headersSent) return void incoming.socket.destroy()
    const reason = error instanceof Error ? error.message : String(error)
    outgoing
      .writeHead(500, { 'content-type': 'text/plain; charset=utf-8' })
      .end(`The handler failed: ${reason}`)
  }
}

function toRequest(incoming: IncomingMessage, outgoing: ServerResponse): Request {
  const left = new AbortController()
  outgoing.on('close', () => {
    if (!outgoing.writableFinished) left.abort(new DOMException('The client went away.', 'AbortError'))
  })
  const headers = new Headers()
  for (const [name, values] of Object.entries(incoming.headersDistinct)) {
    for (const value of values ?? []) headers.append(name, value)
  }
  const method = incoming.method ?? 'GET'
  const init: RequestInit & { duplex: 'half' } = { method, headers, signal: left.signal, duplex: 'half' }
  if (method !== 'GET' && method !== 'HEAD') init.body = toStream(incoming)
  return new Request(`http://${incoming.headers.host ?? 'localhost'}${incoming.url ?? '/'}`, init)
}

function toStream(incoming: IncomingMessage): ReadableStream<Uint8Array> {
  const chunks = incoming[Symbol.asyncIterator]()
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await chunks.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
  })
}

async function send(response: Response, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  outgoing.writeHead(response.status, [...response.headers].flat())
  if (response.body && incoming.method !== 'HEAD') {
    for await (const chunk of response.body) {
      if (outgoing.destroyed) return
      await new Promise((resolve) => outgoing.write(chunk, resolve))
    }
  }
  outgoing.end()
}
