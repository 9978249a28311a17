import { connect } from 'node:net'
import { sign } from '../../../packages/core/src/index.ts'
import { milliseconds } from '../../shared/format.ts'
import { usageOf } from '../../shared/processes.ts'
import { median, quantile } from '../../shared/statistics.ts'
import { pause, until } from '../clock.ts'
import { arranged, type Findings, type Scenario, type World } from '../run.ts'
import { webhookSecret } from '../world.ts'

const CLIENTS = 500
/** The host waits for a second for each 64 KiB of its limit, and 15 seconds more. */
const CLOSED_MS = 200_000
const P99_MS = 200
const CPU_MS = 100
const REPEATED = 20

export const slowClients: Scenario = {
  name: 'slow-clients',
  shows: `${CLIENTS} slow connections and 11 expensive requests: other clients wait for at most ${P99_MS} ms`,
  run() {
    // The host compares each signature of a request with each secret.
    const secrets = [webhookSecret, ...['1', '2'].map((byte) => `whsec_${btoa(byte.repeat(24))}`)].join(' ')
    const environment = { DELIVERY_STORE: 'memory:', PLATFORM_WEBHOOK_SECRET: secrets }
    return arranged({ store: 'sqlite', hosts: 1, environment }, async (world) => {
      const findings: Findings = { figures: {}, violations: [] }
      await sendBodies(world, findings)
      await outlastSlowClients(world, findings)
      return findings
    })
  },
}

/** As much as a body may have, but for the event around it. */
const LARGE = 4 * 1024 * 1024 - 100
const event = (fields: string) => `{"name":"WEBHOOK_CHALLENGE",${fields}}`
const challenge = event('"challenge":"c"')
const keys = Array.from({ length: 350_000 }, (_, index) => `"${index.toString(36)}":1`).join(',')
const reference = (apiToken: string) =>
  JSON.stringify({
    name: 'DEPLOYMENT_CREATED',
    deployment: { id: 'dep_1', inputs: { serverType: 'dedicated', apiToken } },
  })
const text = 'x'.repeat(LARGE)

interface Expensive {
  body: string | Uint8Array<ArrayBuffer>
  headers?: Record<string, string>
}

const expensive: Readonly<Record<string, Expensive>> = {
  '4 MB in one string': { body: event(`"extra":"${text}"`) },
  '4 MB of quotes': { body: event(`"extra":"${'\\"'.repeat(LARGE / 2)}"`) },
  '4 MB of 1,1': { body: event(`"extra":[${'1,'.repeat(LARGE / 2 - 1)}1]`) },
  '4 MB of keys': { body: event(`"extra":{${keys}}`) },
  '4 MB that is not UTF-8': { body: new Uint8Array(LARGE).fill(0xff) },
  '4 MB with content-encoding gzip': { body: text, headers: { 'content-encoding': 'gzip' } },
  '4 MB with 100 wrong signatures': {
    body: text,
    headers: { 'webhook-signature': `v1,${btoa('x'.repeat(32))} `.repeat(100).trim() },
  },
  'arrays, 100,000 deep': { body: event(`"extra":${'['.repeat(100_000)}${']'.repeat(100_000)}`) },
  '64 KB of {{env.': { body: reference('{{env.'.repeat(11 * 1024)) },
  'a function name of 64 KB': {
    body: JSON.stringify({ name: 'FUNCTION_CALL', functionCall: { name: 'x'.repeat(65_536) } }),
  },
  '11 MB': { body: 'x'.repeat(11 * 1024 * 1024) },
}

/** Posts a signed body, and resolves with the status and the time until the response, in milliseconds. */
async function post({ hosts: [host] }: World, { body, headers }: Expensive) {
  const signature = await sign({ secret: webhookSecret, id: crypto.randomUUID(), body })
  const began = performance.now()
  const response = await fetch(`${host?.url}/mailer/webhook`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...signature, ...headers },
    body,
  })
  await response.arrayBuffer()
  return { status: response.status, ms: performance.now() - began }
}

async function sendBodies(world: World, { figures, violations }: Findings): Promise<void> {
  const cpuMs = () => world.hosts.reduce((sum, host) => sum + usageOf(host.process).cpuMs, 0)
  for (const [name, request] of Object.entries(expensive)) {
    const { status } = await post(world, request)
    const before = cpuMs()
    const waits: number[] = []
    for (let time = 0; time < REPEATED; time += 1) waits.push((await post(world, request)).ms)
    const cpu = (cpuMs() - before) / REPEATED
    if (cpu > CPU_MS) violations.push(`“${name}” took ${milliseconds(cpu)} of processor time`)
    figures[name] = `${status} after ${milliseconds(median(waits))}, ${milliseconds(cpu)} of processor time`
  }
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

async function outlastSlowClients(world: World, { figures, violations }: Findings): Promise<void> {
  for (let warm = 0; warm < 200; warm += 1) await post(world, { body: challenge })
  const closed = kinds.map((kind) => {
    const closedAfter: number[] = []
    for (let client = 0; client < CLIENTS / kinds.length; client += 1) connectSlowly(world, kind, closedAfter)
    return { name: kind[0], closedAfter }
  })
  const waits: number[] = []
  let isMeasuring = true
  const healthyClients = Array.from({ length: 10 }, async () => {
    while (isMeasuring) {
      const { status, ms } = await post(world, { body: challenge })
      if (status !== 200) violations.push(`a healthy request got status ${status}`)
      waits.push(ms)
      await pause(20)
    }
  })
  const areClosed = () => closed.every(({ closedAfter }) => closedAfter.length === CLIENTS / kinds.length)
  await until('every slow connection is closed', areClosed, CLOSED_MS).catch(({ message }: Error) =>
    violations.push(message),
  )
  isMeasuring = false
  await Promise.all(healthyClients)
  const p99 = quantile(waits, 0.99)
  if (p99 >= P99_MS) violations.push(`the p99 of healthy requests was ${milliseconds(p99)}`)
  for (const { name, closedAfter } of closed)
    figures[`${name}, closed after`] =
      `${Math.min(...closedAfter).toFixed(1)} to ${Math.max(...closedAfter).toFixed(1)} s`
  figures[`${waits.length} healthy requests at the same time`] =
    `p50 ${milliseconds(median(waits))}, p99 ${milliseconds(p99)}, longest ${milliseconds(Math.max(...waits))}`
}
