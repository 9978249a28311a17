/** The host that ships, as a process between emulators, and what a probe measures of it. */
import { fork } from 'node:child_process'
import { setPriority } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import * as z from 'zod'
import { startSurroundings } from '../shipped.ts'

/** Fails at the limit, which a quiet machine of two cores does not reach. docs/security.md has the goals. */
const figures = {
  health: { title: '`GET /healthz`, in milliseconds', goal: 250, limit: 5_000 },
  stall: { title: 'longest stall of the event loop, in milliseconds', goal: 100, limit: 300 },
  memory: { title: 'resident memory, in megabytes', goal: 300, limit: 700 },
}
const sample = z.object({ figure: z.enum(['health', 'stall', 'memory']), value: z.number() })

/** A host that is measured. */
export type Watched = Awaited<ReturnType<typeof startWatched>>

/** Starts a host as the image and the unit do, and its probe. */
export async function startWatched() {
  const around = await startSurroundings()
  const host = around.ship({
    environment: {
      DELIVERY_STORE: 'sqlite:deliveries.db',
      EGRESS_ALLOW: '127.0.0.1,127.0.0.2,127.0.0.3,127.0.0.4,127.0.0.5',
      MALLOC_ARENA_MAX: '2',
      MALLOC_MMAP_THRESHOLD_: '262144',
      NODE_OPTIONS: '--max-semi-space-size=4 --max-old-space-size=256',
    },
  })
  const url = await host.url
  const authorization = `Bearer ${around.variables.OPERATOR_TOKEN}`
  const probe = fork(new URL('probe.ts', import.meta.url), [url, String(host.pid), authorization])
  // Tenants and providers are elsewhere: here, they give way to the host and its probe.
  setPriority(10)
  const samples: z.infer<typeof sample>[] = []
  probe.on('message', (message) => void samples.push(sample.parse(message)))
  probe.once('exit', () => {
    console.log(`The host does not answer. ${host.errors()}\n`, ...host.log.slice(-5))
    process.exit(1)
  })
  /** The values of a figure since a sample, the smallest one first. */
  const valuesOf = (figure: string, from = 0) =>
    samples
      .slice(from)
      .flatMap((each) => (each.figure === figure ? each.value : []))
      .sort((a, b) => a - b)

  /** The figures that were too high since a sample. */
  const findExcess = (from = 0) =>
    Object.entries(figures).flatMap(([figure, { title, limit }]) => {
      const most = valuesOf(figure, from).at(-1) ?? 0
      return most < limit ? [] : `${title}: ${most.toFixed()}`
    })

  return {
    url,
    send: host.send,
    /** Does something to the host. @returns the figures that are too high meanwhile */
    async watch(work: () => Promise<unknown>): Promise<string[]> {
      const from = samples.length
      await work()
      // The interval that is under way, and one that it may end in.
      while (valuesOf('stall', from).length < 2) await pause(20)
      around.reset()
      around.backend.reset()
      host.log.length = 0
      return findExcess(from)
    },
    findExcess,
    /** Prints all figures as a table. */
    print(): void {
      console.log('| Figure | values | p50 | p97 | most | goal | fails at |\n|---|---|---|---|---|---|---|')
      for (const [figure, { title, goal, limit }] of Object.entries(figures)) {
        const values = valuesOf(figure)
        const shares = [0.5, 0.97, 1].map((share) => values[Math.ceil(share * values.length) - 1]?.toFixed())
        console.log(`| ${[title, values.length, ...shares, goal, limit].join(' | ')} |`)
      }
    },
    async close() {
      probe.removeAllListeners('exit').kill()
      await around.close()
    },
  }
}
