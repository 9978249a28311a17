import { join } from 'node:path'
import { milliseconds, times } from '../../shared/format.ts'
import { startServer, usageOf } from '../../shared/processes.ts'
import { hostEnvironment } from '../programs/host-environment.ts'
import type { Row } from '../row.ts'

const MOST_TIMES = 1.5

export const coldStart: Row = {
  id: 'cold-start',
  title: 'Cold start of the bundled host, to the first 200',
  method:
    'From the start of the process to the first 200 on `GET /healthz`, requested each millisecond. esbuild bundles the floors into one file each. “Compile cache” is `NODE_COMPILE_CACHE`; our host has its own, beside the bundle. A start before the first round fills them. Our host keeps its deliveries in an existing SQLite file, which is the default, or in memory.',
  contenders: [
    { id: 'hono', title: 'bare hono', kind: 'floor' },
    { id: 'usual', title: 'hono, zod, ky, pino', kind: 'floor' },
    { id: 'usual-cached', title: 'hono, zod, ky, pino; compile cache', kind: 'floor' },
    { id: 'ours', title: 'our host', kind: 'ours' },
    { id: 'ours-memory', title: 'our host, deliveries in memory', kind: 'ours' },
    { id: 'ours-first', title: 'our host, without compiled code', kind: 'ours' },
  ],
  rounds: 21,
  columns: [
    { value: 'startMs', title: 'to the first 200', format: milliseconds, against: ['hono', 'usual'] },
    { value: 'cpuMs', title: 'processor time until then', format: milliseconds, against: ['hono'] },
  ],
  async start({ fixture }) {
    const usual = await fixture.bundle('cold-usual')
    const files = new Map([
      ['hono', await fixture.bundle('cold-hono')],
      ['usual', usual],
      ['usual-cached', usual],
    ])
    async function measure(id: string): Promise<Record<'startMs' | 'cpuMs', number>> {
      const environment = {
        ...hostEnvironment,
        DRAIN_DELAY_MS: '0',
        DELIVERY_STORE: id === 'ours-memory' ? 'memory:' : `sqlite:${join(fixture.folder, 'cold.db')}`,
        ...(id === 'usual-cached' ? { NODE_COMPILE_CACHE: join(fixture.folder, 'compiled') } : {}),
        ...(id === 'ours-first' ? { NODE_DISABLE_COMPILE_CACHE: '1' } : {}),
      }
      const server = await startServer(files.get(id) ?? fixture.host, '/healthz', { environment })
      const { cpuMs } = usageOf(server)
      // Node writes the compile cache when a process exits by itself, which SIGTERM makes it do.
      await server.stop()
      return { startMs: server.startMs, cpuMs }
    }
    return {
      // The first start creates the SQLite file and the compile cache.
      warm: async (id) => [await measure(id), await measure(id)],
      measure,
    }
  },
  targets({ ratio }) {
    const start = ratio('startMs', 'ours', 'hono')
    const cpu = ratio('cpuMs', 'ours', 'hono')
    const target = `at most ${times(MOST_TIMES)} of bare hono, as it is shipped`
    const measured = `${times(start.median)}; of its processor time ${times(cpu.median)}`
    return [{ target, measured, reached: start.median <= MOST_TIMES }]
  },
}
