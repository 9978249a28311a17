/**
 * What a host does under clients that are slow, and under bodies that are made to cost much.
 *
 * `pnpm bench:slow-clients` runs a host as a process of its own, holds 500 slow connections open to it, and
 * measures meanwhile how long others wait. It ends with 1 where a limit is missed.
 *
 * @module
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import { createPlatformEmulator, serve } from '../packages/core/src/testing/index.ts'

const SLOW_CLIENTS = 500
const ALL_GONE_MS = 20_000
const P99_MS = 200
const ANSWERED_MS = 50

const source = new URL('../apps/server/src/node.ts', import.meta.url).pathname
const platform = createPlatformEmulator()
platform.addDeployment({ id: 'dep_1' })
const platformServer = await serve(platform.fetch)
const missed: string[] = []
const say = (line: string) => process.stdout.write(`${line}\n`)

async function startHost(
  variables: Record<string, string> = {},
): Promise<{ child: ChildProcess; port: number }> {
  const child = spawn(process.execPath, ['--conditions=@org/source', source], {
    env: {
      PATH: process.env.PATH ?? '',
      PLATFORM_API_URL: platformServer.url,
      DELIVERY_STORE: 'memory:',
      PORT: '0',
      ...variables,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const lines = createInterface({ input: child.stdout })
  const port = await new Promise<number>((resolve, reject) => {
    child.once('exit', () => reject(new Error('The host ended without listening.')))
    lines.on('line', (line) => {
      const { port } = JSON.parse(line)
      if (port) resolve(port)
    })
  })
  return { child, port }
}

/** How a slow client begins, and what it then goes on with, a piece each second. */
const manners: { name: string; begin: string; piece: string }[] = [
  { name: 'silent', begin: '', piece: '' },
  { name: 'dribbling headers', begin: 'POST /mailer/webhook HTTP/1.1\r\nhost: x\r\n', piece: 'x-a: b\r\n' },
  {
    name: 'dribbling a body',
    begin:
      'POST /mailer/webhook HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 100000\r\n\r\n{',
    piece: ' ',
  },
  {
    name: 'dribbling chunks',
    begin:
      'POST /mailer/webhook HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n1\r\n{\r\n',
    piece: '1\r\n \r\n',
  },
]

interface SlowClient {
  name: string
  socket: Socket
  /** In milliseconds; `undefined` while it is connected. */
  goneAfter: number | undefined
}

function connectSlowly(port: number, index: number): SlowClient {
  const { name, begin, piece } = manners[index % manners.length] ?? { name: '', begin: '', piece: '' }
  const started = performance.now()
  const socket = connect(port, '127.0.0.1')
  const client: SlowClient = { name, socket, goneAfter: undefined }
  socket.write(begin)
  const timer = setInterval(() => piece && socket.writable && socket.write(piece), 1_000)
  socket.on('data', () => {})
  socket.on('error', () => {})
  socket.on('close', () => {
    clearInterval(timer)
    client.goneAfter ??= performance.now() - started
  })
  return client
}

async function post(
  port: number,
  path: string,
  body: string | Uint8Array<ArrayBuffer>,
  headers = {},
): Promise<{ status: number; milliseconds: number }> {
  const started = performance.now()
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  })
  await response.arrayBuffer()
  return { status: response.status, milliseconds: performance.now() - started }
}

const challenge = JSON.stringify({ name: 'WEBHOOK_CHALLENGE', challenge: 'c' })

/** Sends what a healthy client sends, until it is told to stop. */
async function sendHealthy(port: number, signal: AbortSignal): Promise<number[]> {
  const waits: number[] = []
  while (!signal.aborted) {
    const { status, milliseconds } = await post(port, '/mailer/webhook', challenge)
    if (status !== 200) missed.push(`a healthy request was answered ${status}`)
    waits.push(milliseconds)
    await pause(20)
  }
  return waits
}

const percentile = (values: readonly number[], share: number) =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? 0

async function measureSlowClients(): Promise<void> {
  const { child, port } = await startHost()
  for (let warm = 0; warm < 200; warm += 1) await post(port, '/mailer/webhook', challenge)
  const clients = Array.from({ length: SLOW_CLIENTS }, (_, index) => connectSlowly(port, index))
  const end = new AbortController()
  const healthy = Promise.all(Array.from({ length: 10 }, () => sendHealthy(port, end.signal)))
  const deadline = performance.now() + ALL_GONE_MS
  while (performance.now() < deadline && clients.some(({ goneAfter }) => goneAfter === undefined))
    await pause(50)
  end.abort()
  const waits = (await healthy).flat()
  const [p50, p99] = [percentile(waits, 0.5), percentile(waits, 0.99)]
  say(
    `${SLOW_CLIENTS} slow clients; ${waits.length} healthy requests meanwhile: p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, longest ${Math.max(...waits).toFixed(1)} ms`,
  )
  for (const { name } of manners) {
    const times = clients.flatMap((client) =>
      client.name === name ? [client.goneAfter ?? Number.POSITIVE_INFINITY] : [],
    )
    say(
      `  ${name.padEnd(18)} gone after ${(Math.min(...times) / 1000).toFixed(1)} to ${(Math.max(...times) / 1000).toFixed(1)} s`,
    )
  }
  const left = clients.filter(({ goneAfter }) => goneAfter === undefined).length
  if (left > 0) missed.push(`${left} slow clients were still there after ${ALL_GONE_MS / 1000} s`)
  if (p99 >= P99_MS) missed.push(`the p99 of healthy requests was ${p99.toFixed(0)} ms`)
  for (const { socket } of clients) socket.destroy()
  child.kill()
}

const MEGABYTES_5 = 5 * 1024 * 1024
const fill = (piece: string) => piece.repeat(Math.floor(MEGABYTES_5 / piece.length)).slice(0, -1)
const event = (fields: string) => `{"name":"WEBHOOK_CHALLENGE",${fields}}`
const keys = Array.from({ length: 400_000 }, (_, index) => `"${index.toString(36)}":1`).join(',')
const reference = (token: string) =>
  JSON.stringify({
    name: 'DEPLOYMENT_CREATED',
    deployment: { id: 'dep_1', inputs: { serverType: 'dedicated', apiToken: token } },
  })

const bodies: [string, string | Uint8Array<ArrayBuffer>, Record<string, string>?][] = [
  ['5 MB in one text', event(`"extra":"${'x'.repeat(MEGABYTES_5)}"`)],
  ['5 MB of quotes', event(`"extra":"${'\\"'.repeat(MEGABYTES_5 / 2)}"`)],
  ['5 MB of {},{}', event(`"extra":[${fill('{},')}]`)],
  ['5 MB of 1,1', event(`"extra":[${fill('1,')}]`)],
  ['5 MB of keys', event(`"extra":{${keys}}`)],
  ['5 MB that is not UTF-8', new Uint8Array(MEGABYTES_5).fill(0xff)],
  ['5 MB that is no JSON', 'x'.repeat(MEGABYTES_5)],
  ['5 MB that says it is gzip', 'x'.repeat(MEGABYTES_5), { 'content-encoding': 'gzip' }],
  ['5 MB that is not signed right', 'x'.repeat(MEGABYTES_5), signedWrong()],
  ['lists, 100,000 deep', event(`"extra":${'['.repeat(100_000)}${']'.repeat(100_000)}`)],
  ['objects, 100,000 deep', event(`"extra":${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`)],
  ['64 KB of {{', reference('{{'.repeat(32 * 1024))],
  ['64 KB of {{env.', reference('{{env.'.repeat(11 * 1024))],
  ['{{, 64 KB of spaces, }}', reference(`{{${' '.repeat(64 * 1024)}}}`)],
  [
    '64 KB as the name of a function',
    JSON.stringify({ name: 'FUNCTION_CALL', functionCall: { name: 'x'.repeat(65_536) } }),
  ],
  ['11 MB', 'x'.repeat(11 * 1024 * 1024)],
]

function signedWrong(): Record<string, string> {
  const now = String(Math.floor(Date.now() / 1000))
  return {
    'webhook-id': 'msg_1',
    'webhook-timestamp': now,
    'webhook-signature': Array.from({ length: 100 }, () => `v1,${btoa('x'.repeat(32))}`).join(' '),
  }
}

const REPEATED = 20
/** The kernel counts in hundredths of a second. */
const TICK_MS = 10

/** The processor time that a process has used, in milliseconds; not known outside of Linux. */
function cpuOf({ pid }: ChildProcess): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
    return (Number(fields[11]) + Number(fields[12])) * TICK_MS
  } catch {
    return Number.NaN
  }
}

async function measureBodies(): Promise<void> {
  const open = await startHost()
  const secrets = [1, 2, 3].map((byte) => `whsec_${btoa(String.fromCharCode(byte).repeat(24))}`)
  const signed = await startHost({ PLATFORM_WEBHOOK_SECRET: secrets.join(' ') })
  say(
    `Bodies that are made to cost much, each answered within (the middle of ${REPEATED}; the longest; the host’s own time, of which other processes take none):`,
  )
  for (const [name, body, headers = {}] of bodies) {
    const { child, port } = 'webhook-id' in headers ? signed : open
    await post(port, '/mailer/webhook', body, headers)
    const before = cpuOf(child)
    const answers = []
    for (let time = 0; time < REPEATED; time += 1)
      answers.push(await post(port, '/mailer/webhook', body, headers))
    const cpu = (cpuOf(child) - before) / REPEATED
    const times = answers.map(({ milliseconds }) => milliseconds)
    const middle = percentile(times, 0.5)
    const figures = [middle, Math.max(...times), cpu].map((value) => `${value.toFixed(1).padStart(6)} ms`)
    say(`  ${name.padEnd(32)} ${answers[0]?.status}  ${figures.join('  ')}`)
    if (middle > ANSWERED_MS) missed.push(`“${name}” took ${middle.toFixed(0)} ms`)
  }
  open.child.kill()
  signed.child.kill()
}

await measureBodies()
await measureSlowClients()
await platformServer.close()
for (const line of missed) say(`MISSED: ${line}`)
process.exitCode = missed.length > 0 ? 1 : 0
