/** Connections that send slowly or nothing, beside clients that send signed events. */
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { deliver } from '@org/core/testing'
import { secret } from './shipped.ts'

const CLIENTS = 500
const HEALTHY = 10
/** The host waits for a second for each 64 KiB of its limit, and 15 seconds more. */
const CLOSED_MS = 200_000
const P99_MS = 200

const HEAD = 'POST /mailer/webhook HTTP/1.1\r\nhost: x\r\n'
/** Headers that look signed: without them, the host would refuse the request before its body. */
const forgedHead = () =>
  [
    `${HEAD}content-type: application/json`,
    'webhook-id: evt_forged',
    `webhook-timestamp: ${Math.floor(Date.now() / 1_000)}`,
    `webhook-signature: v1,${btoa('x'.repeat(32))}`,
    '',
  ].join('\r\n')
/** The text that each kind of client sends first, and then each second. */
const kinds: readonly (readonly [name: string, first: () => string, piece: string])[] = [
  ['silent', () => '', ''],
  ['slow headers', () => HEAD, 'x-a: b\r\n'],
  ['a slow body', () => `${forgedHead()}content-length: 100000\r\n\r\n{`, ' '],
  ['slow chunks', () => `${forgedHead()}transfer-encoding: chunked\r\n\r\n1\r\n{\r\n`, '1\r\n \r\n'],
]

/**
 * Opens the connections, and sends events until all of them are closed.
 *
 * @returns what went wrong
 */
export async function outlastSlowClients(url: string, print: (line: string) => void): Promise<string[]> {
  const faults: string[] = []
  const began = performance.now()
  const open = kinds.map(([name, first, piece]) => {
    const sockets = Array.from({ length: CLIENTS / kinds.length }, () => {
      const socket = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => {})
      socket.resume().write(first())
      const timer = setInterval(() => piece && socket.writable && socket.write(piece), 1_000)
      return socket.on('close', () => clearInterval(timer))
    })
    return { name, sockets }
  })
  const waits: number[] = []
  const areOpen = () => open.some(({ sockets }) => sockets.some(({ closed }) => !closed))
  const healthy = Array.from({ length: HEALTHY }, async (_, client) => {
    for (let number = 0; areOpen() && performance.now() - began < CLOSED_MS; number += 1) {
      const from = performance.now()
      const event = { name: 'WEBHOOK_CHALLENGE', challenge: 'healthy' }
      const id = `healthy_${client}_${number}`
      const { status } = await deliver(fetch, event, { id, secret, url: `${url}/mailer/webhook` })
      if (status !== 200) faults.push(`a healthy request got status ${status}`)
      waits.push(performance.now() - from)
      await pause(20)
    }
  })
  await Promise.all(healthy)
  for (const { name, sockets } of open) {
    const left = sockets.filter(({ closed }) => !closed)
    if (left.length > 0) faults.push(`${left.length} connections (${name}) are open`)
    for (const socket of left) socket.destroy()
  }
  const p99 = waits.sort((a, b) => a - b)[Math.floor(0.99 * waits.length)] ?? 0
  print(`${waits.length} events beside ${CLIENTS} slow connections: p99 ${p99.toFixed()} ms`)
  if (p99 >= P99_MS) faults.push(`the p99 of healthy requests was ${p99.toFixed()} ms`)
  return faults
}
