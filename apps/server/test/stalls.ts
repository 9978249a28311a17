/**
 * A host that ships, as a process, and what a request does to it: the longest stall of its event loop, the longest
 * response of /healthz that another process saw, and its memory.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { get } from 'node:http'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { sign } from '@org/core'
import type { HostileRequest } from './hostile-sizes.ts'
import { type Shipped, secret, startShipped, startSurroundings } from './shipped.ts'

/** Longest time for a response. A host that takes longer is ended, and started again. */
const PATIENCE_MS = 60_000
const OPERATOR_TOKEN = 'the-token-of-the-operator-of-this-host'

/** The limits for every request. */
export const targets = { stallMs: 100, healthMs: 150, memoryMb: 300 }

/** The measurements of some requests. */
export interface Stall {
  name: string
  /** The status, or why there is none. */
  answers: string
  /** Until the last response. */
  tookMs: number
  /** The longest delay of the host's event loop, as its metrics have it. */
  stallMs: number
  /** The longest response of /healthz. */
  healthMs: number
  /** The most that was resident. */
  memoryMb: number
}

/** Whether requests did more than they may. */
export function isTooMuch({ stallMs, healthMs, memoryMb }: Stall): boolean {
  return stallMs >= targets.stallMs || healthMs >= targets.healthMs || memoryMb >= targets.memoryMb
}

/** Starts a host between emulators, and a second process that watches it. */
export async function startWatched() {
  const around = await startSurroundings()
  let host: Shipped | undefined
  let probe: ChildProcess | undefined

  async function start() {
    const shipped = startShipped({
      environment: {
        ...around.variables,
        OPERATOR_TOKEN,
        DELIVERY_STORE: 'sqlite:deliveries.db',
        // As the image and the unit set it.
        MALLOC_MMAP_THRESHOLD_: '262144',
        NODE_OPTIONS: '--max-semi-space-size=4',
      },
    })
    const url = await shipped.url
    const script = new URL('stall-probe.ts', import.meta.url).pathname
    host = shipped
    probe = spawn(process.execPath, [script, `${url}/healthz`, String(shipped.pid)], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    // The first requests load and compile.
    await new Promise((resolve) => setTimeout(resolve, 1_000))
    await readStalls(probe, url)
    return { shipped, url }
  }

  async function stop() {
    probe?.kill()
    host?.kill('SIGKILL')
    await host?.exit
  }

  let running = await start()
  return {
    url: () => running.url,
    /** Sends requests at a time, and measures what they do. */
    async measure(requests: readonly HostileRequest[]): Promise<Stall> {
      const { shipped, url } = running
      // Before the first is sent: a sender on the host's machine would take its processors.
      const prepared = await Promise.all(requests.map(prepare))
      const begun = performance.now()
      const answers = await Promise.all(prepared.map((request) => answerOf(request, url)))
      const tookMs = performance.now() - begun
      const facts = {
        name: [...new Set(requests.map(({ route, name }) => `/${route} ${name}`))].join(' | '),
        tookMs,
      }
      const hasEnded = await Promise.race([
        shipped.exit.then(() => true),
        new Promise((go) => setTimeout(go, 50)),
      ])
      const isLost = hasEnded || answers.some((answer) => answer === 'no response')
      const lost = { stallMs: tookMs, healthMs: tookMs, memoryMb: Number.NaN }
      const found = isLost || !probe ? lost : await readStalls(probe, url)
      // Never for its memory: what one request leaves behind counts against the next.
      if (isLost) {
        await stop()
        running = await start()
      }
      shipped.log.length = 0
      around.reset()
      around.backend.reset()
      return { ...facts, ...found, answers: hasEnded ? 'the host died' : countOf(answers) }
    },
    async close() {
      await stop()
      await around.close()
    },
  }
}

/** For example `200 503 ×7`. */
function countOf(answers: readonly string[]): string {
  const counts = Object.entries(Object.groupBy(answers, (answer) => answer))
  return counts
    .map(([answer, { length = 0 } = []]) => (length > 1 ? `${answer} ×${length}` : answer))
    .join(' ')
}

async function prepare(request: HostileRequest) {
  const body = new TextEncoder().encode(request.body())
  const own = (request.signed ?? true) ? await sign({ secret, id: crypto.randomUUID(), body }) : {}
  const headers = { 'content-type': 'application/json', ...own, ...request.headers }
  return { path: `/${request.route}/webhook`, headers, body }
}

async function answerOf(
  { path, ...init }: Awaited<ReturnType<typeof prepare>>,
  url: string,
): Promise<string> {
  const signal = AbortSignal.timeout(PATIENCE_MS)
  try {
    const response = await fetch(url + path, { method: 'POST', ...init, signal })
    await response.arrayBuffer()
    return String(response.status)
  } catch {
    // The host may refuse a body before it has read it.
    return signal.aborted ? 'no response' : 'cut'
  }
}

async function readStalls({ stdin, stdout }: ChildProcess, url: string) {
  if (!stdin || !stdout) throw new Error('The probe has no pipes.')
  const lines = createInterface({ input: stdout })
  const line = once(lines, 'line')
  stdin.write('\n')
  const [healthMs, memoryMb] = String(await line).split(' ')
  lines.close()
  // Over a connection of its own: the host may close a kept one at this moment.
  const headers = { authorization: `Bearer ${OPERATOR_TOKEN}` }
  const [response] = await once(get(`${url}/metrics`, { agent: false, headers }), 'response')
  const metrics = await text(response)
  // Since the last time that it was read.
  const seconds = /^nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(metrics)?.[1]
  return { stallMs: Number(seconds) * 1000, healthMs: Number(healthMs), memoryMb: Number(memoryMb) }
}
