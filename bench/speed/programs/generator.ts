/**
 * A cheap load generator: plain sockets, requests that are signed and serialized before the clock starts, and one
 * request in flight on each connection. A library that parses each response costs more than the echo that it loads.
 */
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { serveOrders } from '../../shared/serve-orders.ts'
import { webhookSecret } from './host-environment.ts'

export interface LoadOrder {
  port: number
  connections: number
  /** The load ends after so long. */
  ms: number
  kind: 'health' | 'send'
}

export interface LoadReport {
  done: number
  wallMs: number
}

const key = Buffer.from(webhookSecret.slice('whsec_'.length), 'base64')
let number = 0

serveOrders(load)

async function load({ port, connections, ms, kind }: LoadOrder): Promise<LoadReport> {
  // The store replays a repeated event, so one with an effect is new each time.
  const prepared = serialize('health')
  const next = () => (kind === 'send' ? serialize(kind) : prepared)
  const sockets = await Promise.all(Array.from({ length: connections }, () => open(port)))
  let done = 0
  const began = performance.now()
  const work = (socket: Socket) =>
    new Promise<void>((resolve, reject) => {
      let pending = ''
      const send = () => {
        if (performance.now() >= began + ms) return resolve()
        socket.write(next())
      }
      socket.on('data', (chunk: string) => {
        pending += chunk
        const length = lengthOf(pending)
        if (length === undefined || pending.length < length) return
        if (pending.slice(9, 12) !== '200') return reject(new Error(pending))
        done += 1
        pending = ''
        send()
      })
      socket.on('error', reject)
      socket.on('close', () => reject(new Error('The server closed a connection.')))
      send()
    })
  await Promise.all(sockets.map(work))
  const wallMs = performance.now() - began
  for (const socket of sockets) socket.removeAllListeners('close').destroy()
  return { done, wallMs }
}

async function open(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true }).setEncoding('latin1')
  await once(socket, 'connect')
  return socket
}

/** The length of a response; `undefined` until its head has arrived. */
function lengthOf(response: string): number | undefined {
  const head = response.indexOf('\r\n\r\n')
  if (head < 0) return undefined
  const announced = /\r\ncontent-length: (\d+)/i.exec(response)
  if (announced) return head + 4 + Number(announced[1])
  return response.endsWith('\r\n0\r\n\r\n') ? response.length : undefined
}

function serialize(kind: LoadOrder['kind']): Buffer {
  number += 1
  const id = `evt_${process.pid}_${number}`
  const message = { to: `${id}@example.org`, subject: 'Your order', textBody: 'It is on its way.' }
  const event =
    kind === 'send'
      ? { name: 'FUNCTION_CALL', functionCall: { name: 'sendEmail', arguments: message } }
      : { name: 'HEALTH_CHECK' }
  const body = JSON.stringify({ id, timestamp: new Date().toISOString(), ...event })
  const timestamp = String(Math.floor(Date.now() / 1000))
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
  return Buffer.from(
    [
      `POST /${kind === 'send' ? 'mailer' : 'auth'}/webhook HTTP/1.1`,
      'host: 127.0.0.1',
      'content-type: application/json',
      `content-length: ${Buffer.byteLength(body)}`,
      `webhook-id: ${id}`,
      `webhook-timestamp: ${timestamp}`,
      `webhook-signature: v1,${signature}`,
      '',
      body,
    ].join('\r\n'),
  )
}
