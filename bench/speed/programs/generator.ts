/**
 * A cheap load generator: plain sockets, requests that are signed and serialized before the clock starts, and one
 * request in flight on each connection. A library that parses each response costs more than the echo that it loads.
 */
import { createHmac } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { serveOrders } from '../../shared/serve-orders.ts'
import { webhookSecret } from './host-environment.ts'

export type Kind = 'health' | 'challenge' | 'forged' | 'broken' | 'send'

export interface LoadOrder {
  port: number
  connections: number
  /** The load ends after so long, or after so many events. */
  ms?: number
  events?: number
  /** The kinds of events, which take turns. */
  mix: readonly Kind[]
}

export interface LoadReport {
  done: number
  wallMs: number
  statuses: Record<string, number>
}

const key = Buffer.from(webhookSecret.slice('whsec_'.length), 'base64')
/** The number of different requests that take turns. */
const PREPARED = 240
let number = 0

serveOrders(load)

async function load(order: LoadOrder): Promise<LoadReport> {
  const { port, connections, ms = Number.POSITIVE_INFINITY, events = Number.POSITIVE_INFINITY } = order
  const next = requestsOf(order)
  const sockets = await Promise.all(Array.from({ length: connections }, () => open(port)))
  const statuses: Record<string, number> = {}
  let begun = 0
  let done = 0
  const began = performance.now()
  const work = (socket: Socket) =>
    new Promise<void>((resolve, reject) => {
      let pending = ''
      const send = () => {
        if (begun >= events || performance.now() >= began + ms) return resolve()
        begun += 1
        socket.write(next())
      }
      socket.on('data', (chunk: string) => {
        pending += chunk
        const length = lengthOf(pending)
        if (length === undefined || pending.length < length) return
        const status = pending.slice(9, 12)
        statuses[status] = (statuses[status] ?? 0) + 1
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
  return { done, wallMs, statuses }
}

function open(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket))
    socket.setEncoding('latin1').setNoDelay(true).once('error', reject)
  })
}

/** The length of a response; `undefined` until its head has arrived. */
function lengthOf(response: string): number | undefined {
  const head = response.indexOf('\r\n\r\n')
  if (head < 0) return undefined
  const announced = /\r\ncontent-length: (\d+)/i.exec(response)
  if (announced) return head + 4 + Number(announced[1])
  return response.endsWith('\r\n0\r\n\r\n') ? response.length : undefined
}

/** Repeats a few requests. Events with an effect are new each time, because the store replays a repeated one. */
function requestsOf({ mix }: LoadOrder): () => Buffer {
  const make = () => {
    number += 1
    return serialize(mix[number % mix.length] ?? 'health', `evt_${process.pid}_${number}`)
  }
  if (mix.includes('send')) return make
  const prepared = Array.from({ length: PREPARED }, make)
  let at = 0
  return () => prepared[at++ % PREPARED] ?? make()
}

function serialize(kind: Kind, id: string): Buffer {
  const event = { id, timestamp: new Date().toISOString(), ...fieldsOf(kind, id) }
  const body = JSON.stringify(event).slice(0, kind === 'broken' ? -1 : undefined)
  const timestamp = String(Math.floor(Date.now() / 1000))
  const signature = createHmac('sha256', kind === 'forged' ? 'another' : key)
    .update(`${id}.${timestamp}.${body}`)
    .digest('base64')
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

function fieldsOf(kind: Kind, id: string): object {
  if (kind === 'challenge') return { name: 'WEBHOOK_CHALLENGE', challenge: `c_${id}` }
  if (kind !== 'send') return { name: 'HEALTH_CHECK' }
  const args = { to: `${id}@example.org`, subject: 'Your order', textBody: 'It is on its way.' }
  return { name: 'FUNCTION_CALL', functionCall: { name: 'sendEmail', arguments: args } }
}
