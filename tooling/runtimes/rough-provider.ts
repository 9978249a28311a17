/**
 * A mail provider below HTTP: each case has a port of its own, so that no connection is shared.
 *
 * @module
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { cert, key } from './certificate.ts'

/** One request that arrived as a whole. */
export interface Call {
  /** From 1. */
  number: number
  /** Counts the mails as accepted. */
  accept(): Socket
  /** What the provider answers if all is well. */
  results(): WireResult[]
  answer(status: number, body?: unknown, headers?: string): void
  /** Closes the connection once everything is written. */
  close(): void
}

/** What the provider answers for one message. */
export type WireResult = Record<string, unknown>

/** What a provider does. */
export interface Provider {
  onCall?: (call: Call) => void
  /** Takes the whole connection. */
  onConnection?: (socket: Socket) => void
  /** `deaf` accepts no connection. */
  kind?: 'plain' | 'tls' | 'deaf'
  /** Of the address; `http` by default. */
  scheme?: 'http' | 'https'
  /** Nobody listens: the address itself. */
  url?: string
}

/** Blocks right after it listens, so that nothing is ever accepted. */
const DEAF = `
const server = require('node:net').createServer().listen({ host: '127.0.0.1', port: 0, backlog: 1 }, () => {
  require('node:fs').writeSync(1, server.address().port + '\\n')
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
})`

/** Starts a provider. */
export async function startProvider({ onCall = () => {}, onConnection, kind, scheme, url }: Provider) {
  const accepted: string[] = []
  const sockets = new Set<Socket>()
  let calls = 0

  function serve(socket: Socket): void {
    sockets.add(socket)
    socket.on('error', () => {})
    if (onConnection) onConnection(socket)
    else serveCalls(socket)
  }

  function serveCalls(socket: Socket): void {
    let received = Buffer.alloc(0)
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk])
      const end = received.indexOf('\r\n\r\n')
      const head = received.toString('latin1', 0, Math.max(end, 0))
      const length = Number(/^content-length: *(\d+)$/im.exec(head)?.[1] ?? Number.NaN)
      if (end < 0 || received.length < end + 4 + length) return
      const content = received.toString('utf8', end + 4, end + 4 + length)
      received = received.subarray(end + 4 + length)
      calls += 1
      // Every runtime has to say how long a body is.
      if (Number.isNaN(length)) answer(socket, 411)
      else onCall(toCall(socket, calls, JSON.parse(content), accepted))
    })
  }

  const child = kind === 'deaf' ? await startDeaf() : undefined
  const server = kind === 'tls' ? createTlsServer({ key, cert }, serve) : createServer(serve)
  if (!url && !child) await once(server.listen(0, '127.0.0.1'), 'listening')
  const protocol = scheme ?? (kind === 'tls' ? 'https' : 'http')
  const fillers = child ? await fillBacklog(child.port) : []
  return {
    url: url ?? `${protocol}://127.0.0.1:${child?.port ?? portOf(server)}`,
    accepted,
    close() {
      server.close()
      child?.process.kill()
      for (const socket of [...sockets, ...fillers]) socket.destroy()
    },
  }
}

type Sent = { To: string }

function toCall(socket: Socket, number: number, body: Sent | Sent[], accepted: string[]): Call {
  const messages = [body].flat()
  const isBatch = Array.isArray(body)
  return {
    number,
    accept() {
      accepted.push(...messages.map(({ To }) => To))
      return socket
    },
    close: () => socket.destroySoon(),
    results: () =>
      messages.map(({ To }) => ({
        To,
        SubmittedAt: '2026-11-22T09:00:00Z',
        MessageID: `id of ${To}`,
        ErrorCode: 0,
        Message: 'OK',
      })),
    answer: (status, body, headers) =>
      answer(socket, status, Array.isArray(body) && !isBatch ? body[0] : body, headers),
  }
}

function answer(socket: Socket, status: number, body: unknown = '', headers = ''): void {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  socket.write(
    `HTTP/1.1 ${status} Status\r\ncontent-length: ${Buffer.byteLength(text)}\r\n${headers}\r\n${text}`,
  )
}

async function startDeaf(): Promise<{ process: ChildProcess; port: number }> {
  const process_ = spawn(process.execPath, ['-e', DEAF], { stdio: ['ignore', 'pipe', 'ignore'] })
  const [line]: Buffer[] = await once(process_.stdout, 'data')
  return { process: process_, port: Number(String(line)) }
}

/** Opens connections until the queue is full; the packets of any other are dropped. */
async function fillBacklog(port: number): Promise<Socket[]> {
  const sockets = Array.from({ length: 8 }, () => connect(port, '127.0.0.1').on('error', () => {}))
  await Promise.race(sockets.map((socket) => once(socket, 'connect')))
  await new Promise((resolve) => setTimeout(resolve, 200))
  return sockets
}

function portOf(server: Server): number {
  const address = server.address()
  return typeof address === 'object' && address ? address.port : 0
}
