import { openSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { megabytes } from '../harness/format.ts'
import { type RunningServer, startServer, startWorker, usageOf, type Worker } from '../harness/processes.ts'
import { spreadOf } from '../harness/ratio.ts'
import type { BenchmarkRow, Samples } from '../harness/row.ts'
import type { LoadReport } from '../programs/generator.ts'
import { hostEnvironment } from './host-environment.ts'

const CONNECTIONS = 50
const DEFAULT_EVENTS = 200_000
const QUICK_EVENTS = 20_000
const SAMPLE_MS = 100
const MOST_BYTES = 120e6
/** Of the middle of the run: what the end may be above it and still be flat. */
const FLAT = 1.05
/** Good ones, and each kind of bad one, which take other ways. */
const MIX = ['health', 'health', 'health', 'challenge', 'health', 'forged', 'health', 'broken'] as const

/** Whether memory stays where it is. */
export const memory: BenchmarkRow = {
  id: 'memory',
  title: 'Resident memory under load',
  method: `One server after another takes its events over ${CONNECTIONS} connections: five of eight are HEALTH_CHECKs, the others a challenge, a forged one and one that is no JSON. The resident set is read from the kernel every ${SAMPLE_MS} ms. “Flat” compares the last tenth of the run with the fifth and sixth.`,
  contenders: [
    { id: 'pino', title: 'hono, zod, verify by `createHmac`, pino', kind: 'floor' },
    { id: 'ours', title: 'our host', kind: 'ours' },
  ],
  async run({ arrangement, contenders, progress, quick, events: wanted }) {
    const events = wanted ?? (quick ? QUICK_EVENTS : DEFAULT_EVENTS)
    const generator = await startWorker(await arrangement.program('programs/generator.ts'))
    const verifying = await arrangement.program('programs/verifying-server.ts')
    const [middle, end, peak]: Record<string, number[]>[] = [{}, {}, {}]
    let statuses = {}
    for (const { id } of contenders) {
      progress(`${events.toLocaleString('en')} events to ${id}`)
      const output = openSync(join(arrangement.folder, `memory-${id}.log`), 'a')
      const server =
        id === 'ours'
          ? await startServer(arrangement.host, '/healthz', { output, environment: hostEnvironment })
          : await startServer(verifying, '/healthz', { output, parameters: ['pino'] })
      const { samples, report } = await watch(server, generator, events)
      await server.stop()
      if (report.done !== events) throw new Error(`${id} answered ${report.done} of ${events} events.`)
      if (id === 'ours') statuses = report.statuses
      const part = (from: number, to: number) =>
        samples.slice(Math.floor(samples.length * from), Math.ceil(samples.length * to))
      if (middle) middle[id] = part(0.4, 0.6)
      if (end) end[id] = part(0.9, 1)
      if (peak) peak[id] = samples
    }
    await generator.end()
    return toMeasured({ events, statuses, middle: middle ?? {}, end: end ?? {}, all: peak ?? {} })
  },
}

async function watch(
  server: RunningServer,
  generator: Worker,
  events: number,
): Promise<{ samples: number[]; report: LoadReport }> {
  const samples: number[] = []
  let over = false
  const sampling = (async () => {
    while (!over) {
      samples.push(usageOf(server.child).residentBytes)
      await pause(SAMPLE_MS)
    }
  })()
  const order = { port: server.port, path: '/auth/webhook', connections: CONNECTIONS, events, mix: MIX }
  const report = await generator.ask<LoadReport>(order, 900_000)
  over = true
  await sampling
  return { samples, report }
}

function toMeasured(run: { events: number; statuses: object; middle: Samples; end: Samples; all: Samples }) {
  const growth = spreadOf(run.end.ours).median / spreadOf(run.middle.ours).median
  const { most } = spreadOf(run.all.ours)
  const show = megabytes
  return {
    figures: [
      { title: 'in the middle', show, samples: run.middle, against: [] },
      { title: 'at the end', show, samples: run.end, against: [] },
      { title: 'whole run', show, samples: run.all, against: [] },
    ],
    verdicts: [
      {
        target: `flat over ${run.events.toLocaleString('en')} events: at the end at most ${FLAT} × the middle`,
        measured: `${growth.toFixed(2)} ×`,
        reached: growth <= FLAT,
      },
      {
        target: `at most ${megabytes(MOST_BYTES)} resident at ${CONNECTIONS} connections: the most ever seen`,
        measured: megabytes(most),
        reached: most <= MOST_BYTES,
      },
    ],
    facts: [`Ours answered ${JSON.stringify(run.statuses)}, by status.`],
  }
}
