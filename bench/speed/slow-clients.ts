/**
 * Measures a host under slow clients and expensive bodies: `pnpm bench:slow-clients`.
 *
 * It holds 500 slow connections open and measures how long other clients wait, and sends bodies that cost a careless
 * host much. It exits with 1 if a limit is missed.
 *
 * @module
 */
import { connect, type Socket } from 'node:net'
import { pause, until } from '../chaos/clock.ts'
import { arranged } from '../chaos/run.ts'
import { milliseconds } from '../shared/format.ts'
import { toTable } from '../shared/markdown.ts'
import { usageOf } from '../shared/processes.ts'
import { median, quantile } from '../shared/statistics.ts'

const SLOW_CLIENTS = 500
const CLOSED_MS = 20_000
const P99_MS = 200
const MEDIAN_MS = 50
const REPEATED = 20
const missed: string[] = []

async function post(
  base: string,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = {},
): Promise<{ status: number; ms: number }> {
  const began = performance.now()
  const init = { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body }
  const response = await fetch(`${base}/mailer/webhook`, init)
  await response.arrayBuffer()
  return { status: response.status, ms: performance.now() - began }
}

/** Runs `work` against a host that accepts events with these secrets; unsigned events, if there are none. */
function withHost(secrets: string, work: Parameters<typeof arranged<void>>[1]): Promise<void> {
  const environment = { DELIVERY_STORE: 'memory:', PLATFORM_WEBHOOK_SECRET: secrets }
  return arranged({ store: 'sqlite', hosts: 1, environment }, work)
}

const HEAD = 'POST /mailer/webhook HTTP/1.1\r\nhost: x\r\n'
const JSON_HEAD = `${HEAD}content-type: application/json\r\n`
/** What each kind of slow client sends first, and then each second. */
const slowClients: Readonly<Record<string, { begin: string; piece: string }>> = {
  silent: { begin: '', piece: '' },
  'slow headers': { begin: HEAD, piece: 'x-a: b\r\n' },
  'a slow body': { begin: `${JSON_HEAD}content-length: 100000\r\n\r\n{`, piece: ' ' },
  'slow chunks': {
    begin: `${JSON_HEAD}transfer-encoding: chunked\r\n\r\n1\r\n{\r\n`,
    piece: '1\r\n \r\n',
  },
}

interface SlowClient {
  name: string
  socket: Socket
  /** Milliseconds until the host closed the connection; `undefined` while it is open. */
  closedAfter: number | undefined
}

function connectSlowly(base: string, index: number): SlowClient {
  const all = Object.entries(slowClients)
  const [name, { begin, piece }] = all[index % all.length] ?? ['', { begin: '', piece: '' }]
  const began = performance.now()
  const socket = connect(Number(new URL(base).port), '127.0.0.1')
  const client: SlowClient = { name, socket, closedAfter: undefined }
  socket.write(begin)
  const timer = setInterval(() => piece && socket.writable && socket.write(piece), 1_000)
  socket.on('data', () => {})
  socket.on('error', () => {})
  socket.on('close', () => {
    clearInterval(timer)
    client.closedAfter ??= performance.now() - began
  })
  return client
}

const challenge = JSON.stringify({ name: 'WEBHOOK_CHALLENGE', challenge: 'c' })

async function measureSlowClients(base: string): Promise<void> {
  for (let warm = 0; warm < 200; warm += 1) await post(base, challenge)
  const clients = Array.from({ length: SLOW_CLIENTS }, (_, index) => connectSlowly(base, index))
  const waits: number[] = []
  let isMeasuring = true
  const healthyClients = Array.from({ length: 10 }, async () => {
    while (isMeasuring) {
      const { status, ms } = await post(base, challenge)
      if (status !== 200) missed.push(`a healthy request got status ${status}`)
      waits.push(ms)
      await pause(20)
    }
  })
  const allClosed = () => clients.every(({ closedAfter }) => closedAfter !== undefined)
  await until('every slow connection is closed', allClosed, CLOSED_MS).catch((error: Error) =>
    missed.push(error.message),
  )
  isMeasuring = false
  await Promise.all(healthyClients)
  const [p50, p99] = [median(waits), quantile(waits, 0.99)]
  if (p99 >= P99_MS) missed.push(`the p99 of healthy requests was ${milliseconds(p99)}`)
  console.log(
    `\n${SLOW_CLIENTS} slow clients, ${waits.length} healthy requests at the same time: p50 ${milliseconds(p50)}, p99 ${milliseconds(p99)}, longest ${milliseconds(Math.max(...waits))}\n`,
  )
  const rows = Object.keys(slowClients).map((name) => {
    const times = clients
      .filter((client) => client.name === name)
      .map(({ closedAfter = Number.POSITIVE_INFINITY }) => closedAfter / 1_000)
    return [name, `${Math.min(...times).toFixed(1)} to ${Math.max(...times).toFixed(1)} s`]
  })
  console.log(toTable([['slow client', 'closed after'], ...rows]))
  for (const { socket } of clients) socket.destroy()
}

const FIVE_MB = 5 * 1024 * 1024
const fill = (piece: string) => piece.repeat(Math.floor(FIVE_MB / piece.length)).slice(0, -1)
const event = (fields: string) => `{"name":"WEBHOOK_CHALLENGE",${fields}}`
const keys = Array.from({ length: 400_000 }, (_, index) => `"${index.toString(36)}":1`).join(',')
const reference = (token: string) =>
  JSON.stringify({
    name: 'DEPLOYMENT_CREATED',
    deployment: { id: 'dep_1', inputs: { serverType: 'dedicated', apiToken: token } },
  })
const text = 'x'.repeat(FIVE_MB)
const functionCall = { name: 'FUNCTION_CALL', functionCall: { name: 'x'.repeat(65_536) } }

const bodies: Readonly<Record<string, string | Uint8Array<ArrayBuffer>>> = {
  '5 MB in one string': event(`"extra":"${text}"`),
  '5 MB of quotes': event(`"extra":"${'\\"'.repeat(FIVE_MB / 2)}"`),
  '5 MB of {},{}': event(`"extra":[${fill('{},')}]`),
  '5 MB of 1,1': event(`"extra":[${fill('1,')}]`),
  '5 MB of keys': event(`"extra":{${keys}}`),
  '5 MB that is not UTF-8': new Uint8Array(FIVE_MB).fill(0xff),
  '5 MB that is not JSON': text,
  '5 MB with content-encoding gzip': text,
  '5 MB with 100 wrong signatures': text,
  'arrays, 100,000 deep': event(`"extra":${'['.repeat(100_000)}${']'.repeat(100_000)}`),
  'objects, 100,000 deep': event(`"extra":${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`),
  '64 KB of {{': reference('{{'.repeat(32 * 1024)),
  '64 KB of {{env.': reference('{{env.'.repeat(11 * 1024)),
  '{{, 64 KB of spaces, }}': reference(`{{${' '.repeat(64 * 1024)}}}`),
  'a function name of 64 KB': JSON.stringify(functionCall),
  '11 MB': 'x'.repeat(11 * 1024 * 1024),
}

function headersOf(name: string): Record<string, string> {
  if (name.endsWith('gzip')) return { 'content-encoding': 'gzip' }
  if (!name.endsWith('signatures')) return {}
  const signatures = Array.from({ length: 100 }, () => `v1,${btoa('x'.repeat(32))}`)
  return {
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(Math.floor(Date.now() / 1000)),
    'webhook-signature': signatures.join(' '),
  }
}

/** Measures the bodies whose names match, and returns the rows of a table. */
async function measureBodies(secrets: string, names: RegExp): Promise<string[][]> {
  const rows: string[][] = []
  await withHost(secrets, async ({ hosts: [host] }) => {
    if (!host) throw new Error('There is no host.')
    for (const [name, body] of Object.entries(bodies).filter(([name]) => names.test(name))) {
      const { status } = await post(host.url, body, headersOf(name))
      const before = usageOf(host.process).cpuMs
      const waits: number[] = []
      for (let time = 0; time < REPEATED; time += 1)
        waits.push((await post(host.url, body, headersOf(name))).ms)
      const cpu = (usageOf(host.process).cpuMs - before) / REPEATED
      const middle = median(waits)
      if (middle > MEDIAN_MS) missed.push(`“${name}” took ${milliseconds(middle)}`)
      rows.push([name, String(status), ...[middle, Math.max(...waits), cpu].map(milliseconds)])
    }
  })
  return rows
}

const secrets = [1, 2, 3].map((byte) => `whsec_${btoa(String.fromCharCode(byte).repeat(24))}`)
const head = ['body', 'status', `median of ${REPEATED}`, 'longest', 'processor time of the host']
const rows = await measureBodies('', /^(?!.*signatures$)/)
console.log(toTable([head, ...rows, ...(await measureBodies(secrets.join(' '), /signatures$/))]))
await withHost('', async ({ hosts: [host] }) => measureSlowClients(host?.url ?? ''))
for (const line of missed) console.log(`MISSED: ${line}`)
process.exit(missed.length > 0 ? 1 : 0)
