/**
 * Strangers, who know no secret of a host: each keeps a connection open, until the process is killed.
 *
 * @module
 */
import { connect } from 'node:net'
import { setPriority } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'

const [port] = process.argv.slice(2)
/** Strangers are elsewhere: here, they give way to the host and its probe. */
setPriority(10)

const get = (path: string) => `GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`
const HEAD = 'POST /mailer/webhook HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n'
/** Headers that look signed: without them, the host would refuse the request before its body. */
const forged = (more: string) =>
  `${HEAD}webhook-id: evt_forged\r\nwebhook-timestamp: ${Math.floor(Date.now() / 1_000)}\r\nwebhook-signature: v1,${btoa('x'.repeat(32))}\r\n${more}\r\n\r\n`

interface Stranger {
  connections: number
  /** Sent first. */
  first: () => string
  /** Sent each second. */
  piece?: string
  /** @default true */
  reads?: boolean
}

/** Together less than the 10,000 connections that a host takes. */
const strangers: Record<string, Stranger> = {
  'is silent': { connections: 9_000, first: () => '' },
  'sends headers without end': { connections: 200, first: () => HEAD, piece: 'x-a: b\r\n' },
  'sends a slow body': { connections: 100, first: () => `${forged('content-length: 100000')}{`, piece: ' ' },
  'sends slow chunks': {
    connections: 100,
    first: () => `${forged('transfer-encoding: chunked')}1\r\n{\r\n`,
    piece: '1\r\n \r\n',
  },
  'sends most of a long body': {
    connections: 40,
    first: () => forged('content-length: 4000000') + ' '.repeat(3_000_000),
  },
  'sends a compressed body': {
    connections: 60,
    first: () => forged('content-encoding: gzip\r\ncontent-length: 4000000') + ' '.repeat(100_000),
  },
  pipelines: { connections: 20, first: () => get('/healthz').repeat(400), piece: get('/nope').repeat(50) },
  'does not read': { connections: 50, first: () => get('/openapi.json').repeat(100), reads: false },
}

async function keepOpen({ first, piece, reads = true }: Stranger, localAddress: string, at: number) {
  // One after the other: the kernel keeps only a few hundred for the host to accept.
  for (await pause(at); ; await pause(1_000)) {
    const socket = connect({ port: Number(port), host: '127.0.0.1', localAddress }).on('error', () => {})
    socket.write(first())
    if (reads) socket.resume()
    const timer = piece && setInterval(() => socket.writable && socket.write(piece), 1_000)
    // Not `once` of events, which rejects if the host cuts the connection.
    await new Promise((resolve) => socket.once('close', resolve))
    clearInterval(timer)
  }
}

// From addresses that no other sender has.
for (const [kind, stranger] of Object.values(strangers).entries())
  for (let at = 0; at < stranger.connections; at += 1)
    void keepOpen(stranger, `127.0.${1 + kind}.${1 + (at % 200)}`, at)
process.once('disconnect', () => process.exit())
