/** A mail provider that breaks connections. Each case has one of its own, so that no connection is shared. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { createServer as createRawServer, type Socket } from 'node:net'
import { json } from 'node:stream/consumers'
import { cert, key } from './certificate.ts'

/** One request that arrived as a whole. */
export interface Call {
  /** From 1. */
  number: number
  socket: Socket
  response: ServerResponse
  /** Counts the mails as accepted, and returns what the provider answers if all is well. */
  accept(): object[]
  answer(status: number, body?: unknown, headers?: Record<string, string>): void
}

/** What a provider does. */
export interface Provider {
  onCall?: (call: Call) => void
  /** Takes the whole connection. */
  onConnection?: (socket: Socket) => void
  isSecure?: true
  /** Of the address; by default that of the server. */
  scheme?: 'http' | 'https'
  /** Nobody listens: the address itself. */
  url?: string
}

/** Starts a provider. */
export async function startProvider({ onCall = () => {}, onConnection, isSecure, scheme, url }: Provider) {
  const accepted: string[] = []
  const sockets = new Set<Socket>()
  let calls = 0

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const answer: Call['answer'] = (status, content = '', headers) => {
      const text = typeof content === 'string' ? content : JSON.stringify(content)
      response.writeHead(status, headers).end(text)
    }
    calls += 1
    // Every runtime has to say how long a body is.
    if (!request.headers['content-length']) return answer(411)
    const body: unknown = await json(request)
    const messages = [body].flat()
    onCall({
      number: calls,
      socket: request.socket,
      response,
      accept() {
        const results = messages.map((message) => resultOf(Object(message).To))
        accepted.push(...results.map(({ To }) => To))
        return results
      },
      answer: (status, content, headers) =>
        answer(status, Array.isArray(content) && !Array.isArray(body) ? content[0] : content, headers),
    })
  }

  const server = onConnection
    ? createRawServer(onConnection)
    : isSecure
      ? createSecureServer({ key, cert }, handle)
      : createServer(handle)
  server.on('connection', (socket: Socket) => sockets.add(socket.on('error', () => {})))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  return {
    url: url ?? `${scheme ?? (isSecure ? 'https' : 'http')}://127.0.0.1:${port}`,
    accepted,
    close() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

const resultOf = (To: string) => ({
  To,
  SubmittedAt: '2026-11-22T09:00:00Z',
  MessageID: `id of ${To}`,
  ErrorCode: 0,
  Message: 'OK',
})
