/**
 * Measures a host from a process of its own: how long `GET /healthz` takes, the longest stall of the event loop since
 * the figure before, and the most memory that was resident since then. The process that started it gets each figure.
 *
 * @module
 */
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { get } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'

const [url = '', pid = '', authorization = ''] = process.argv.slice(2)
const tell = (figure: string, value: number) => void process.send?.({ figure, value })

/** Asks over a new connection, as a balancer does. */
async function ask(path: string): Promise<string> {
  const [response] = await once(get(url + path, { agent: false, headers: { authorization } }), 'response')
  return text(response)
}

async function measureHealth(): Promise<void> {
  for (;;) {
    const from = performance.now()
    await ask('/healthz')
    tell('health', performance.now() - from)
    await pause(50)
  }
}

async function measureProcess(): Promise<void> {
  // The first figures are those of its start.
  for (let isFirst = true; ; isFirst = false) {
    const seconds = /^nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(await ask('/metrics'))?.[1]
    const kilobytes = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    writeFileSync(`/proc/${pid}/clear_refs`, '5')
    if (!isFirst) tell('stall', Number(seconds) * 1_000)
    if (!isFirst) tell('memory', Number(kilobytes) / 1_024)
    await pause(250)
  }
}

process.once('disconnect', () => process.exit())
await Promise.all([measureHealth(), measureProcess()])
