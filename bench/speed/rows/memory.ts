import { setTimeout as pause } from 'node:timers/promises'
import { megabytes, times } from '../../shared/format.ts'
import { startWorker, usageOf } from '../../shared/processes.ts'
import { median } from '../../shared/statistics.ts'
import type { Kind, LoadOrder, LoadReport } from '../programs/generator.ts'
import { atMost, type Row } from '../row.ts'

const CONNECTIONS = 50
const SAMPLE_MS = 100
/** Good events, and each kind of bad event, which the host handles in other places. */
const MIX: readonly Kind[] = [
  'health',
  'health',
  'health',
  'challenge',
  'health',
  'forged',
  'health',
  'broken',
]

export const memory: Row = {
  id: 'memory',
  title: 'Resident memory under load',
  method: `One server after another gets its events over ${CONNECTIONS} connections. Five of eight events are HEALTH_CHECKs; the others are a challenge, a forged event and an event that is not JSON. The kernel gives the resident set every ${SAMPLE_MS} ms. “Flat” compares the last tenth of the run with the fifth and sixth. \`pnpm bench --only memory --events 1000000\` makes a long run.`,
  contenders: [
    { id: 'by-hand', title: 'hono, zod, `createHmac`, pino', kind: 'floor' },
    { id: 'host', title: 'our host', kind: 'ours' },
  ],
  rounds: 1,
  columns: [
    { value: 'middle', title: 'in the middle', format: megabytes },
    { value: 'end', title: 'at the end', format: megabytes },
    { value: 'most', title: 'at most', format: megabytes },
  ],
  async start({ fixture, quick, events = quick ? 20_000 : 200_000 }) {
    const generator = await startWorker(await fixture.program('generator'))
    return {
      async measure(id) {
        const server = await fixture.startServer(id)
        const order: LoadOrder = { port: server.port, connections: CONNECTIONS, events, mix: MIX }
        const samples: number[] = []
        const over = generator.ask<LoadReport>(order)
        let report: LoadReport | undefined
        while (!report) {
          samples.push(usageOf(server).residentBytes)
          report = await Promise.race([over, pause(SAMPLE_MS, undefined)])
        }
        await server.stop()
        if (report.done !== events) throw new Error(`${id} answered ${report.done} of ${events} events.`)
        const part = (from: number, to: number) =>
          median(samples.slice(Math.floor(samples.length * from), Math.ceil(samples.length * to)))
        return { middle: part(0.4, 0.6), end: part(0.9, 1), most: Math.max(...samples) }
      },
      stop: generator.stop,
    }
  },
  targets({ median }) {
    const growth = median('end', 'host') / median('middle', 'host')
    return [
      atMost('flat: the end × the middle', growth, 1.05, times),
      atMost('the most ever seen', median('most', 'host'), 120e6, megabytes),
    ]
  },
}
