/**
 * A load generator that costs as little as it can, as a process of its own: plain sockets, requests that are
 * signed and laid out as bytes before the time begins, one under way on each connection.
 *
 * @module
 */
import { createHmac } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { webhookSecret } from '../rows/host-environment.ts'

/** What it is asked for. */
export interface LoadOrder {
  port: number
  path: string
  connections: number
  /** For so long, or for so many events. */
  ms?: number
  events?: number
  /** @default HEALTH_CHECK */
  mix?: readonly ('health' | 'challenge' | 'forged' | 'broken' | 'send')[]
}

/** What it tells. */
export interface LoadReport {
  done: number
  wallMs: number
  /** Of this process, as a share of one core. */
  cpuShare: number
  cpuMs: number
  /** Events by the status of their answers. */
  statuses: Record<string, number>
}

const key = Buffer.from(webhookSecret.slice('whsec_'.length), 'base64')
/** Different requests that are sent in turns. */
const LAID_OUT = 240
let number = 0

process.on('message', (order: LoadOrder) => {
  load(order).then(
    (report) => process.send?.(report),
    (error: unknown) => process.send?.({ error: String(error) }),
  )
})
process.send?.({ ready: true })

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
  const cpuMs = (user + system) / 1_000
  return { done, wallMs, cpuMs, cpuShare: cpuMs / wallMs, statuses }
}

function open(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket))
    socket.setEncoding('latin1').setNoDelay(true).once('error', reject)
  })
}

/** Where an answer ends; `undefined` while that is not known. */
function lengthOf(answer: string): number | undefined {
  const head = answer.indexOf('\r\n\r\n')
  if (head < 0) return undefined
  const announced = /\r\ncontent-length: (\d+)/i.exec(answer)
  if (announced) return head + 4 + Number(announced[1])
  return answer.endsWith('\r\n0\r\n\r\n') ? answer.length : undefined
}

/** The same few requests over and over; those with an effect each once, because a repeated one is answered from the store. */
function requestsOf({ path, mix = ['health'] }: LoadOrder): () => Buffer {
  const make = (at: number) =>
    layOut(path, mix[at % mix.length] ?? 'health', `evt_${process.pid}_${number++}`)
  if (mix.includes('send')) {
    let at = 0
    return () => make(at++)
  }
  const laidOut = Array.from({ length: LAID_OUT }, (_, at) => make(at))
  let at = 0
  return () => laidOut[at++ % LAID_OUT] ?? make(0)
}

function layOut(path: string, kind: NonNullable<LoadOrder['mix']>[number], id: string): Buffer {
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

function bodyOf(kind: NonNullable<LoadOrder['mix']>[number], id: string): string {
  const timestamp = new Date().toISOString()
  switch (kind) {
    case 'broken':
      return `{"id":"${id}","name":"HEALTH_CHECK"`
    case 'challenge':
      return JSON.stringify({ id, name: 'WEBHOOK_CHALLENGE', timestamp, challenge: `c_${id}` })
    case 'send': {
      const args = { to: `${id}@example.org`, subject: 'Your order', textBody: 'It is on its way.' }
      return JSON.stringify({
        id,
        name: 'FUNCTION_CALL',
        timestamp,
        functionCall: { name: 'sendEmail', arguments: args },
      })
    }
    default:
      return JSON.stringify({ id, name: 'HEALTH_CHECK', timestamp })
  }
}
