/** A mail provider that breaks connections. Each case has one of its own, so that no connection is shared. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { createServer as createSilentServer, type Socket } from 'node:net'
import { json } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { cert, key } from './certificate.ts'

const breaks = {
  cut: ({ socket }: ServerResponse) => socket?.end(),
  reset: ({ socket }: ServerResponse) => socket?.resetAndDestroy(),
  hang: () => {},
  half(response: ServerResponse) {
    response.writeHead(200, { 'content-length': 200 }).write('{"To":"a')
    response.socket?.end()
  },
}

/** How a connection breaks after the provider has accepted the mails of a call. */
export type Break = keyof typeof breaks

export interface Provider {
  /** Its behaviour at the first calls, and at each further one as at the last of these. It answers by default. */
  does?: readonly ('answer' | 'redirect' | 'limit' | Break)[]
  /** The time that it takes for a call. */
  delayMs?: number
  /** `secure`: its certificate is not trusted. `silent`: it takes connections, and nothing else. */
  server?: 'plain' | 'secure' | 'silent'
  /** Of its address, if it is not the one that the server speaks. */
  scheme?: 'http' | 'https'
  /** The address where nobody listens. */
  url?: string
}

/** Starts a provider. */
export async function startProvider(provider: Provider) {
  const { does = ['answer'], delayMs = 0, server: kind = 'plain', url } = provider
  const accepted: string[] = []
  const sockets = new Set<Socket>()
  let calls = 0

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // Every runtime has to say how long a body is.
    if (!request.headers['content-length']) return void response.writeHead(411).end()
    const body: unknown = await json(request)
    if (delayMs > 0) await pause(delayMs)
    const step = does[Math.min(calls, does.length - 1)] ?? 'answer'
    calls += 1
    if (step === 'redirect') return void response.writeHead(307, { location: '/again' }).end()
    if (step === 'limit') return void response.writeHead(429, { 'retry-after': '0.25' }).end()
    const results = [body].flat().map((message) => resultOf(Object(message).To))
    // The platform's call has no recipient.
    accepted.push(...results.flatMap(({ To = [] }) => To))
    if (step !== 'answer') return void breaks[step](response)
    response.end(JSON.stringify(Array.isArray(body) ? results : results[0]))
  }

  const server = {
    plain: () => createServer(handle),
    secure: () => createSecureServer({ key, cert }, handle),
    silent: () => createSilentServer(),
  }[kind]()
  server.on('connection', (socket: Socket) => sockets.add(socket.on('error', () => {})))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = Object(server.address())
  const { scheme = kind === 'secure' ? 'https' : 'http' } = provider
  return {
    url: url ?? `${scheme}://127.0.0.1:${port}`,
    accepted,
    close() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

const resultOf = (To?: string) => ({
  To,
  SubmittedAt: '2026-11-22T09:00:00Z',
  MessageID: `id of ${To}`,
  ErrorCode: 0,
  Message: 'OK',
})
