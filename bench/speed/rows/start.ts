import { join } from 'node:path'
import { milliseconds, times } from '../../shared/format.ts'
import { startServer, usageOf } from '../../shared/processes.ts'
import { hostEnvironment } from '../programs/host-environment.ts'
import type { Row } from '../row.ts'

export const start: Row = {
  id: 'start',
  title: 'Cold start of the bundled host, to the first 200',
  method:
    'From the start of the process to the first 200 on `GET /healthz`, requested each millisecond. esbuild bundles the floor into one file. Our host has a compile cache beside its bundle, and an existing SQLite file; a start before the first round fills them.',
  contenders: { hono: 'bare hono', ours: 'our host', first: 'our host, without compiled code' },
  rounds: 21,
  columns: {
    startMs: { title: 'to the first 200', format: milliseconds, against: 'hono' },
    cpuMs: { title: 'processor time until then', format: milliseconds, against: 'hono' },
  },
  async start({ fixture }) {
    const hono = await fixture.bundle('echo')
    async function measure(id: string): Promise<Record<'startMs' | 'cpuMs', number>> {
      const environment = {
        ...hostEnvironment,
        DRAIN_DELAY_MS: '0',
        DELIVERY_STORE: `sqlite:${join(fixture.folder, 'cold.db')}`,
        ...(id === 'first' ? { NODE_DISABLE_COMPILE_CACHE: '1' } : {}),
      }
      const server = await startServer(id === 'hono' ? hono : fixture.host, '/healthz', { environment })
      const { cpuMs } = usageOf(server)
      // Node writes the compile cache when a process exits by itself, which SIGTERM makes it do.
      await server.stop()
      return { startMs: server.startMs, cpuMs }
    }
    return { warm: measure, measure }
  },
  targets: ({ ratio }) => [
    ['as it is shipped × bare hono', ratio('startMs', 'ours', 'hono'), 'at most', 1.5, times],
  ],
}
