/** A host that ships, as a process, and what large requests and slow connections do to it. */
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { sign } from '@org/core'
import type { HostileRequest } from './hostile-sizes.ts'
import { secret, startShipped, startSurroundings } from './shipped.ts'

/** Longest time for a response. A host that takes longer is ended, and started again. */
const PATIENCE_MS = 60_000
/** The limits for every request. */
export const targets = { stallMs: 100, memoryMb: 300 }

/** Starts a host between emulators. */
export async function startWatched() {
  const around = await startSurroundings()
  const authorization = `Bearer ${around.variables.OPERATOR_TOKEN}`
  const start = () =>
    startShipped({
      environment: {
        ...around.variables,
        DELIVERY_STORE: 'sqlite:deliveries.db',
        // As the image and the unit set it.
        MALLOC_MMAP_THRESHOLD_: '262144',
        NODE_OPTIONS: '--max-semi-space-size=4 --max-old-space-size=512',
      },
    })
  let host = start()

  /** The longest stall, and the most memory that was resident, since they were read the last time. */
  async function readFigures(): Promise<typeof targets> {
    const status = readFileSync(`/proc/${host.pid}/status`, 'utf8')
    const metrics = await (await fetch(`${await host.url}/metrics`, { headers: { authorization } })).text()
    writeFileSync(`/proc/${host.pid}/clear_refs`, '5')
    const seconds = /^nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(metrics)?.[1]
    const kilobytes = /^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]
    return { stallMs: Number(seconds) * 1_000, memoryMb: Number(kilobytes) / 1_024 }
  }

  async function answerOf({ route, headers, body }: Awaited<ReturnType<typeof prepare>>): Promise<string> {
    const signal = AbortSignal.timeout(PATIENCE_MS)
    try {
      const init = { method: 'POST', headers, body, signal }
      const response = await fetch(`${await host.url}/${route}/webhook`, init)
      await response.arrayBuffer()
      return String(response.status)
    } catch {
      // The host may refuse a body before it has read it.
      return signal.aborted ? 'no response' : 'cut'
    }
  }

  return {
    send: (event: object, id: string) => host.send('mailer', event, id),
    url: async () => host.url,
    /** Sends requests at a time, and measures what they do. */
    async measure(requests: readonly HostileRequest[]) {
      // Before the first is sent: a sender on the host's machine would take its processors.
      const prepared = await Promise.all(requests.map(prepare))
      await readFigures()
      const answers = await Promise.all(prepared.map(answerOf))
      const hasEnded = await Promise.race([host.exit.then(() => true), pause(50, false)])
      const isLost = hasEnded || answers.includes('no response')
      const figures = isLost ? undefined : await readFigures()
      if (isLost) {
        host.kill('SIGKILL')
        await host.exit
        host = start()
      }
      host.log.length = 0
      around.reset()
      around.backend.reset()
      const names = [...new Set(requests.map(({ route, name }) => `/${route} ${name}`))].join(' | ')
      const counts = Object.entries(Object.groupBy(answers, String)).map(
        ([answer, all]) => `${answer} ×${all?.length}`,
      )
      return {
        isTooMuch: !figures || figures.stallMs >= targets.stallMs || figures.memoryMb >= targets.memoryMb,
        line: `stall ${figures?.stallMs.toFixed()} ms  memory ${figures?.memoryMb.toFixed()} MB  [${counts}]  ${names}`,
      }
    },
    async close() {
      host.kill('SIGKILL')
      await host.exit
      await around.close()
    },
  }
}

async function prepare(request: HostileRequest) {
  const body = new TextEncoder().encode(request.body())
  const own = (request.signed ?? true) ? await sign({ secret, id: crypto.randomUUID(), body }) : {}
  const headers = { 'content-type': 'application/json', ...own, ...request.headers }
  return { route: request.route, headers, body }
}

const HEAD = 'POST /mailer/webhook HTTP/1.1\r\nhost: x\r\n'
/** Headers that look signed: without them, the host would refuse the request before its body. */
const forgedHead = () =>
  `${HEAD}content-type: application/json\r\nwebhook-id: evt_forged\r\nwebhook-timestamp: ${Math.floor(Date.now() / 1_000)}\r\nwebhook-signature: v1,${btoa('x'.repeat(32))}\r\n`
/** The text that each kind of client sends first, and then each second. */
const slowKinds: readonly (readonly [name: string, first: () => string, piece: string])[] = [
  ['silent', () => '', ''],
  ['slow headers', () => HEAD, 'x-a: b\r\n'],
  ['a slow body', () => `${forgedHead()}content-length: 100000\r\n\r\n{`, ' '],
  ['slow chunks', () => `${forgedHead()}transfer-encoding: chunked\r\n\r\n1\r\n{\r\n`, '1\r\n \r\n'],
]
const CLIENTS_OF_A_KIND = 125
const HEALTHY = 10
/** The host waits for a second for each 64 KiB of its limit, and 15 seconds more. */
const CLOSED_MS = 200_000
const P99_MS = 200

/**
 * Opens slow connections, and sends events until all of them are closed.
 *
 * @returns what went wrong
 */
export async function outlastSlowClients(): Promise<string[]> {
  const host = await startWatched()
  const { port } = new URL(await host.url())
  const began = performance.now()
  const open = slowKinds.flatMap(([name, first, piece]) =>
    Array.from({ length: CLIENTS_OF_A_KIND }, () => {
      const socket = connect(Number(port), '127.0.0.1').on('error', () => {})
      socket.resume().write(first())
      const timer = setInterval(() => piece && socket.writable && socket.write(piece), 1_000)
      return { name, socket, closed: once(socket, 'close').finally(() => clearInterval(timer)) }
    }),
  )
  const faults: string[] = []
  const waits: number[] = []
  const hasTime = () => open.some(({ socket }) => !socket.closed) && performance.now() - began < CLOSED_MS
  const healthy = Array.from({ length: HEALTHY }, async (_, client) => {
    for (let number = 0; hasTime(); number += 1) {
      const from = performance.now()
      const { status } = await host.send({ name: 'WEBHOOK_CHALLENGE' }, `healthy_${client}_${number}`)
      if (status !== 200) faults.push(`a healthy request got status ${status}`)
      waits.push(performance.now() - from)
      await pause(20)
    }
  })
  await Promise.all(healthy)
  for (const { name, socket, closed } of open) {
    if (!socket.closed) faults.push(`a connection is still open: ${name}`)
    socket.destroy()
    await closed
  }
  await host.close()
  const p99 = waits.sort((a, b) => a - b)[Math.floor(0.99 * waits.length)] ?? 0
  console.log(`${waits.length} events beside ${open.length} slow connections: p99 ${p99.toFixed()} ms`)
  return p99 < P99_MS ? faults : [...faults, `the p99 of healthy requests was ${p99.toFixed()} ms`]
}
