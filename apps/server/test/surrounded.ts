/** Surroundings that end with the file that starts them, and connections to a host. */
import { once } from 'node:events'
import { connect } from 'node:net'
import { sign } from '@org/core'
import { afterAll } from 'vitest'
import { secret, startSurroundings } from './shipped.ts'

/** Starts surroundings; `ship` starts a production host between them. */
export async function surround() {
  const around = await startSurroundings()
  afterAll(around.close)
  return around
}

/** Connects to a host, and collects what it sends. */
export async function open(url: string) {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  // The host may cut it at any time. Not `once` of events, which would reject then.
  const left = new Promise<void>((resolve) => socket.on('error', () => {}).once('close', () => resolve()))
  let received = ''
  socket.on('data', (chunk) => {
    received += chunk
  })
  await once(socket, 'connect')
  return Object.assign(socket, { left, received: () => received })
}

/** A POST to the mailer, as a sender writes it to a connection. */
export function post(headers: Record<string, string | number>, body = ''): string {
  const all = { host: 'host.test', 'content-type': 'application/json', ...headers }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return `POST /mailer/webhook HTTP/1.1\r\n${lines.join('')}\r\n${body}`
}

/** A signed delivery to the mailer, as the platform writes it to a connection. */
export async function signedPost(event: object, id: string = crypto.randomUUID()): Promise<string> {
  const body = JSON.stringify(event)
  return post({ 'content-length': Buffer.byteLength(body), ...(await sign({ secret, id, body })) }, body)
}
