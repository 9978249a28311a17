import { setTimeout as pause } from 'node:timers/promises'
import { megabytes } from '../../shared/format.ts'
import { startWorker, usageOf } from '../../shared/processes.ts'
import type { LoadOrder, LoadReport } from '../programs/generator.ts'
import type { Row } from '../row.ts'

const CONNECTIONS = 50
const SAMPLE_MS = 100
const MOST_BYTES = 120e6
/** The most that memory at the end may be, as a multiple of memory in the middle. */
const FLAT = 1.05
/** Good events, and each kind of bad event, which the host handles in other places. */
const MIX = ['health', 'health', 'health', 'challenge', 'health', 'forged', 'health', 'broken'] as const

export const memory: Row = {
  id: 'memory',
  title: 'Resident memory under load',
  method: `One server after another gets its events over ${CONNECTIONS} connections. Five of eight events are HEALTH_CHECKs; the others are a challenge, a forged event and an event that is not JSON. The kernel gives the resident set every ${SAMPLE_MS} ms. “Flat” compares the last tenth of the run with the fifth and sixth.`,
  contenders: [
    { id: 'pino', title: 'hono, zod, verify by `createHmac`, pino', kind: 'floor' },
    { id: 'ours', title: 'our host', kind: 'ours' },
  ],
  rounds: 1,
  columns: [
    { value: 'middle', title: 'in the middle', format: megabytes },
    { value: 'end', title: 'at the end', format: megabytes },
    { value: 'all', title: 'whole run', format: megabytes },
  ],
  async start({ fixture, quick, events = quick ? 20_000 : 200_000 }) {
    const generator = await startWorker(await fixture.program('generator'))
    return {
      async measure(id) {
        const server = await fixture.startServer(id)
        const order: LoadOrder = {
          port: server.port,
          path: '/auth/webhook',
          connections: CONNECTIONS,
          events,
          mix: MIX,
        }
        const all: number[] = []
        const over = generator.ask<LoadReport>(order)
        let report: LoadReport | undefined
        while (!report) {
          all.push(usageOf(server).residentBytes)
          report = await Promise.race([over, pause(SAMPLE_MS, undefined)])
        }
        await server.stop()
        if (report.done !== events) throw new Error(`${id} answered ${report.done} of ${events} events.`)
        const part = (from: number, to: number) =>
          all.slice(Math.floor(all.length * from), Math.ceil(all.length * to))
        return { middle: part(0.4, 0.6), end: part(0.9, 1), all, events }
      },
      stop: generator.stop,
    }
  },
  targets({ spread }) {
    const growth = spread('end', 'ours').median / spread('middle', 'ours').median
    const { most } = spread('all', 'ours')
    return [
      {
        target: `flat over ${spread('events', 'ours').most.toLocaleString('en')} events: at the end at most ${FLAT} × the middle`,
        measured: `${growth.toFixed(2)} ×`,
        reached: growth <= FLAT,
      },
      {
        target: `at most ${megabytes(MOST_BYTES)} resident at ${CONNECTIONS} connections: the most ever seen`,
        measured: megabytes(most),
        reached: most <= MOST_BYTES,
      },
    ]
  },
}
