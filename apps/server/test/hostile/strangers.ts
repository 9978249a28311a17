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

/** The text that a connection sends first, and the one that it sends each second. */
type Stranger = [connections: number, first: () => string, piece?: string]

const strangers: Record<string, Stranger> = {
  'is silent': [9_000, () => ''],
  'sends headers without end': [200, () => HEAD, 'x-a: b\r\n'],
  'sends a slow body': [100, () => `${forged('content-length: 100000')}{`, ' '],
  'sends slow chunks': [100, () => `${forged('transfer-encoding: chunked')}1\r\n{\r\n`, '1\r\n \r\n'],
  'sends most of a long body': [40, () => forged('content-length: 4000000') + ' '.repeat(3_000_000)],
  'sends a compressed body': [
    60,
    () => forged('content-encoding: gzip\r\ncontent-length: 4000000') + ' '.repeat(100_000),
  ],
  pipelines: [20, () => get('/healthz').repeat(400), get('/nope').repeat(50)],
  'does not read': [50, () => get('/openapi.json').repeat(100)],
}

async function keepOpen(kind: string, [, first, piece]: Stranger, localAddress: string, at: number) {
  // One after the other: the kernel keeps only a few hundred for the host to accept.
  for (await pause(at); ; await pause(1_000)) {
    const socket = connect({ port: Number(port), host: '127.0.0.1', localAddress }).on('error', () => {})
    socket.write(first())
    if (kind !== 'does not read') socket.resume()
    const timer = piece && setInterval(() => socket.writable && socket.write(piece), 1_000)
    // Not `once` of events, which rejects if the host cuts the connection.
    await new Promise((resolve) => socket.once('close', resolve))
    clearInterval(timer)
  }
}

// From addresses that no other sender has. Together they are fewer than the 10,000 connections that a host takes.
for (const [subnet, [kind, stranger]] of Object.entries(strangers).entries())
  for (let at = 0; at < stranger[0]; at += 1)
    void keepOpen(kind, stranger, `127.0.${1 + subnet}.${1 + (at % 200)}`, at)
process.once('disconnect', () => process.exit())
