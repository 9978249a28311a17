import { connect } from 'node:net'
import { milliseconds } from '../../shared/format.ts'
import { median, quantile } from '../../shared/statistics.ts'
import { pause, until } from '../clock.ts'
import { challenge } from '../events.ts'
import { arranged, type Findings, type Scenario, type World } from '../run.ts'

const CLIENTS = 500
const HEALTHY = 10
/** The host waits for a second for each 64 KiB of its limit, and 15 seconds more. */
const CLOSED_MS = 200_000
const P99_MS = 200

export const slowClients: Scenario = {
  name: 'slow-clients',
  shows: `${CLIENTS} slow connections: other clients wait for at most ${P99_MS} ms, and all are closed`,
  run: () =>
    arranged({ store: 'sqlite', hosts: 1, environment: { DELIVERY_STORE: 'memory:' } }, outlastSlowClients),
}

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

function connectSlowly(world: World, [, first, piece]: (typeof kinds)[number], closedAfter: number[]) {
  const began = performance.now()
  const socket = connect(Number(new URL(world.hosts[0]?.url ?? '').port), '127.0.0.1')
  socket.write(first())
  const timer = setInterval(() => piece && socket.writable && socket.write(piece), 1_000)
  for (const name of ['data', 'error']) socket.on(name, () => {})
  socket.on('close', () => {
    clearInterval(timer)
    closedAfter.push((performance.now() - began) / 1_000)
  })
}

async function outlastSlowClients(world: World): Promise<Findings> {
  const { sender } = world
  const findings: Findings = { figures: {}, violations: [] }
  const { figures, violations } = findings
  for (let warm = 0; warm < 200; warm += 1) await sender.once(challenge(`warm_${warm}`))
  const closed = kinds.map((kind) => {
    const closedAfter: number[] = []
    for (let client = 0; client < CLIENTS / kinds.length; client += 1) connectSlowly(world, kind, closedAfter)
    return { name: kind[0], closedAfter }
  })
  const waits: number[] = []
  let isMeasuring = true
  const healthy = Array.from({ length: HEALTHY }, async (_, client) => {
    for (let number = 0; isMeasuring; number += 1) {
      const began = performance.now()
      const { status } = await sender.once(challenge(`healthy_${client}_${number}`))
      if (status !== 200) violations.push(`a healthy request got status ${status}`)
      waits.push(performance.now() - began)
      await pause(20)
    }
  })
  const areClosed = () => closed.every(({ closedAfter }) => closedAfter.length === CLIENTS / kinds.length)
  await until('every slow connection is closed', areClosed, CLOSED_MS).catch(({ message }: Error) =>
    violations.push(message),
  )
  isMeasuring = false
  await Promise.all(healthy)
  const p99 = quantile(waits, 0.99)
  if (p99 >= P99_MS) violations.push(`the p99 of healthy requests was ${milliseconds(p99)}`)
  for (const { name, closedAfter } of closed)
    figures[`${name}, closed after`] =
      `${Math.min(...closedAfter).toFixed(1)} to ${Math.max(...closedAfter).toFixed(1)} s`
  figures[`${waits.length} healthy requests at the same time`] =
    `p50 ${milliseconds(median(waits))}, p99 ${milliseconds(p99)}, longest ${milliseconds(Math.max(...waits))}`
  return findings
}
