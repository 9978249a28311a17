/** The host that ships, as a process between emulators, and what its event loop and its memory do meanwhile. */
import { readFileSync, writeFileSync } from 'node:fs'
import { setPriority } from 'node:os'
import { startShipped, startSurroundings } from '../shipped.ts'

const limits = { 'ms of the event loop in one piece': 100, 'MB of resident memory': 300 }

/** Starts a host as the image and the unit do. */
export async function startWatched() {
  const around = await startSurroundings()
  const { pid, send, log, ...host } = startShipped({
    environment: {
      ...around.variables,
      DELIVERY_STORE: 'sqlite:deliveries.db',
      MALLOC_ARENA_MAX: '2',
      MALLOC_MMAP_THRESHOLD_: '262144',
      NODE_OPTIONS: '--max-semi-space-size=4 --max-old-space-size=160',
    },
  })
  const url = await host.url
  void host.exit.then((code) => {
    if (code !== null) throw new Error(`The host has ended. ${host.errors()}`)
  })
  // Strangers and providers are elsewhere: here, they give way to the host.
  setPriority(10)
  const headers = { authorization: `Bearer ${around.variables.OPERATOR_TOKEN}` }
  const most = [0, 0]

  /** The longest stall and the most memory since the last time. */
  async function measure(): Promise<number[]> {
    const metrics = await (await fetch(`${url}/metrics`, { headers })).text()
    const seconds = /^nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(metrics)?.[1]
    const kilobytes = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    writeFileSync(`/proc/${pid}/clear_refs`, '5')
    return [Number(seconds) * 1_000, Number(kilobytes) / 1_024]
  }

  // Those of the start do not count.
  await measure()
  return {
    url,
    send,
    /** Does something to the host, and returns the figures that were too high meanwhile. */
    async watch(work: () => Promise<unknown>): Promise<string[]> {
      await work()
      const figures = await measure()
      around.reset()
      around.backend.reset()
      log.length = 0
      return Object.entries(limits).flatMap(([unit, limit], at) => {
        const figure = figures[at] ?? Number.NaN
        most[at] = Math.max(most[at] ?? 0, figure)
        return figure < limit ? [] : `${figure.toFixed()} ${unit}`
      })
    },
    /** The highest figures of all. */
    most: () => Object.keys(limits).map((unit, at) => `at most ${most[at]?.toFixed()} ${unit}`),
    async close() {
      host.kill('SIGKILL')
      await host.exit
      await around.close()
    },
  }
}
