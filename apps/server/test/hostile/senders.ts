/** Who sends to a host at the same time: strangers, a tenant with slow servers, and others who must not notice them. */
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { calling, mail, mailDeployment } from '../hosted.ts'
import type { Watched } from './watch.ts'

const get = (path: string) => `GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`
const HEAD = 'POST /mailer/webhook HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n'
/** Headers that look signed: without them, the host would refuse the request before its body. */
const forged = (more: string) =>
  `${HEAD}webhook-id: evt_forged\r\nwebhook-timestamp: ${Math.floor(Date.now() / 1_000)}\r\nwebhook-signature: v1,${btoa('x'.repeat(32))}\r\n${more}\r\n\r\n`

interface Stranger {
  connections: number
  /** What it sends first. */
  first: () => string
  /** What it sends each second. */
  piece?: string
  /** @default true */
  reads?: boolean
}

/** Together less than the 10,000 connections that a host takes. */
const strangers: Record<string, Stranger> = {
  silent: { connections: 9_000, first: () => '' },
  'headers without end': { connections: 200, first: () => HEAD, piece: 'x-a: b\r\n' },
  'a slow body': { connections: 100, first: () => `${forged('content-length: 100000')}{`, piece: ' ' },
  'slow chunks': {
    connections: 100,
    first: () => `${forged('transfer-encoding: chunked')}1\r\n{\r\n`,
    piece: '1\r\n \r\n',
  },
  'a long body that stops': {
    connections: 40,
    first: () => forged('content-length: 4000000') + ' '.repeat(3_000_000),
  },
  'compressed bodies': {
    connections: 60,
    first: () => forged('content-encoding: gzip\r\ncontent-length: 4000000') + ' '.repeat(100_000),
  },
  'pipelined requests': {
    connections: 20,
    first: () => get('/healthz').repeat(400),
    piece: get('/nope').repeat(50),
  },
  'responses that it does not read': {
    connections: 50,
    first: () => get('/openapi.json').repeat(100),
    reads: false,
  },
}

/** Keeps a connection of each stranger open, from addresses that no other sender has. */
export async function keepStrangers({ url }: Watched, signal: AbortSignal): Promise<void> {
  const { port } = new URL(url)
  const sockets = new Set<Socket>()
  async function keep({ first, piece, reads = true }: Stranger, localAddress: string, at: number) {
    // One after the other: more than a few hundred at once would only wait for the kernel.
    await pause(at)
    while (!signal.aborted) {
      const socket = connect({ port: Number(port), host: '127.0.0.1', localAddress }).on('error', () => {})
      sockets.add(socket)
      socket.write(first())
      if (reads) socket.resume()
      const timer = piece && setInterval(() => socket.writable && socket.write(piece), 1_000)
      // Not `once` of events, which rejects if the host cuts the connection.
      await new Promise((resolve) => socket.once('close', resolve))
      sockets.delete(socket)
      clearInterval(timer)
      await pause(1_000)
    }
  }
  signal.addEventListener('abort', () => sockets.forEach((socket) => void socket.destroy()))
  const all = Object.values(strangers).flatMap((stranger, kind) =>
    Array.from({ length: stranger.connections }, (_, at) =>
      keep(stranger, `127.0.${1 + kind}.${1 + (at % 200)}`, at),
    ),
  )
  await Promise.all(all)
}

/** Sends as a tenant with ten deployments, whose servers do not answer. */
export async function sendAsSlowTenant({ send }: Watched, signal: AbortSignal): Promise<void> {
  const silent = createServer(() => {}).listen(0)
  await once(silent, 'listening')
  const address = silent.address()
  const port = typeof address === 'object' && address?.port
  const call = async (at: number) => {
    while (!signal.aborted) {
      const server = `http://127.0.0.${1 + (at % 5)}:${port}`
      const deployment = { ...mailDeployment(`slow_${at % 10}`, server), owner: 'slow' }
      await send('mailer', { ...calling(at % 2 ? 'getDeliveryStats' : 'sendEmail', mail), deployment })
      await pause(200)
    }
  }
  await Promise.all(Array.from({ length: 100 }, (_, at) => call(at)))
  silent.close()
}

/** Sends mails of some sizes, each for another owner, and finds out whether each is sent. */
export async function sendAsOthers({ send }: Watched, sizes: readonly number[], signal: AbortSignal) {
  let sent = 0
  const faults: string[] = []
  const call = async (size: number, at: number) => {
    const deployment = { id: `other_${at}`, owner: `other_${at}`, inputs: { serverType: 'shared' } }
    const event = { ...calling('sendEmail', { ...mail, textBody: 'x'.repeat(size) }), deployment }
    while (!signal.aborted) {
      const { status, body } = await send('mailer', event).catch((error) => ({
        status: 0,
        body: String(error),
      }))
      sent += 1
      if (status !== 200)
        faults.push(`A signed event of ${size} bytes got ${status}: ${JSON.stringify(body)}`)
      await pause(50)
    }
  }
  await Promise.all(sizes.map(call))
  return { sent, faults }
}
