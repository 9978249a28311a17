/**
 * A cheap load generator: plain sockets, requests that are signed and serialized before the clock starts, and one
 * request in flight on each connection.
 */
import { createHmac } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { serveOrders } from '../../shared/serve-orders.ts'
import { webhookSecret } from './host-environment.ts'
import { userId } from './wire.ts'

type Kind = 'health' | 'challenge' | 'forged' | 'broken' | 'read' | 'metrics' | 'send' | 'create'

export interface LoadOrder {
  port: number
  path: string
  connections: number
  ms?: number
  events?: number
  /** @default HEALTH_CHECK */
  mix?: readonly Kind[]
}

export interface LoadReport {
  done: number
  wallMs: number
  /** Processor time of the generator, as a share of one core. */
  cpuShare: number
  statuses: Record<string, number>
}

const key = Buffer.from(webhookSecret.slice('whsec_'.length), 'base64')
/** The number of different requests that take turns. */
const PREPARED = 240
let number = 0

serveOrders(load)

async function load(order: LoadOrder): Promise<LoadReport> {
  const { port, connections, ms, events = Number.POSITIVE_INFINITY } = order
  const next = requestsOf(order)
  const sockets = await Promise.all(Array.from({ length: connections }, () => open(port)))
  const statuses: Record<string, number> = {}
  let begun = 0
  let done = 0
  const before = process.cpuUsage()
  const began = performance.now()
  const until = ms === undefined ? Number.POSITIVE_INFINITY : began + ms
  await Promise.all(
    sockets.map(
      (socket) =>
        new Promise<void>((resolve, reject) => {
          let pending = ''
          const send = () => {
            if (begun >= events || performance.now() >= until) return resolve()
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
        }),
    ),
  )
  const wallMs = performance.now() - began
  const { user, system } = process.cpuUsage(before)
  for (const socket of sockets) socket.removeAllListeners('close').destroy()
  return { done, wallMs, cpuShare: (user + system) / 1_000 / wallMs, statuses }
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
function requestsOf({ path, mix = ['health'] }: LoadOrder): () => Buffer {
  const make = () => {
    number += 1
    return serialize(path, mix[number % mix.length] ?? 'health', `evt_${process.pid}_${number}`)
  }
  if (mix.includes('send') || mix.includes('create')) return make
  const prepared = Array.from({ length: PREPARED }, make)
  let at = 0
  return () => prepared[at++ % PREPARED] ?? make()
}

function serialize(path: string, kind: Kind, id: string): Buffer {
  const body = bodyOf(kind, id)
  const timestamp = String(Math.floor(Date.now() / 1000))
  const signature = createHmac('sha256', kind === 'forged' ? 'another' : key)
    .update(`${id}.${timestamp}.${body}`)
    .digest('base64')
  return Buffer.from(
    [
      `POST ${path} HTTP/1.1`,
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

function bodyOf(kind: Kind, id: string): string {
  if (kind === 'broken') return `{"id":"${id}","name":"HEALTH_CHECK"`
  const timestamp = new Date().toISOString()
  if (kind === 'challenge')
    return JSON.stringify({ id, name: 'WEBHOOK_CHALLENGE', timestamp, challenge: `c_${id}` })
  if (kind === 'metrics') return JSON.stringify({ id, name: 'METRIC_UPDATE', timestamp })
  if (kind === 'create') {
    const deployment = { id: `dep_${id}`, inputs: { serverType: 'shared' } }
    return JSON.stringify({ id, name: 'DEPLOYMENT_CREATED', timestamp, deployment })
  }
  if (kind === 'read') {
    const functionCall = { name: 'getUser', arguments: { userId } }
    return JSON.stringify({ id, name: 'FUNCTION_CALL', timestamp, functionCall })
  }
  if (kind !== 'send') return JSON.stringify({ id, name: 'HEALTH_CHECK', timestamp })
  const args = { to: `${id}@example.org`, subject: 'Your order', textBody: 'It is on its way.' }
  const functionCall = { name: 'sendEmail', arguments: args }
  return JSON.stringify({ id, name: 'FUNCTION_CALL', timestamp, functionCall })
}
