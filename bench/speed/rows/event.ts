import { startRedis } from '../../chaos/redis.ts'
import { duration, megabytes, microseconds, perSecond } from '../../shared/format.ts'
import { type ServerProcess, startWorker, usageOf } from '../../shared/processes.ts'
import type { LoadOrder, LoadReport } from '../programs/generator.ts'
import type { Row } from '../row.ts'

const CONNECTIONS = 50

export const event: Row = {
  id: 'event',
  title: `Signed events by the second, ${CONNECTIONS} connections, one core`,
  method:
    'Each server runs on one core, the generator (plain sockets, requests prepared beforehand) on another, which it shares with the provider and Redis (`appendfsync always`). One server works at a time, another one first in each round. Logs go to a file. The processor time of an event is what the kernel counts for the server, the thread of SQLite included. The memory is the resident set at the end of a round. The start is the time from the start of the process to the first 200, measured once.',
  contenders: {
    pino: 'HEALTH_CHECK by hand: hono, zod, `createHmac`, pino',
    ours: 'HEALTH_CHECK on our host, log included',
    sqlite: '`sendEmail` on our host, `sqlite:`',
    redis: '`sendEmail` on our host, `redis:`',
  },
  rounds: 9,
  columns: {
    perSecond: { title: 'events', format: perSecond, against: 'pino' },
    cpuMicroseconds: { title: 'processor time an event', format: microseconds, against: 'pino' },
    residentBytes: { title: 'memory', format: megabytes },
    startMs: { title: 'start', format: duration },
  },
  async start({ fixture, quick, only }) {
    const generator = await startWorker(fixture.program('generator'), { core: 1 })
    const provider = only ? undefined : await fixture.startProvider()
    const redis = only ? undefined : await startRedis()
    const mailer = {
      MAILER_API_BASE: provider?.url,
      MAILER_SHARED_API_TOKEN: 'server-token',
      MAILER_SHARED_FROM_EMAIL: 'shop@example.com',
    }
    const environments: Record<string, Record<string, string | undefined>> = {
      sqlite: { ...mailer, DELIVERY_STORE: `sqlite:${fixture.folder}/deliveries.db` },
      redis: { ...mailer, DELIVERY_STORE: redis?.url },
    }
    const servers = new Map<string, ServerProcess>()
    for (const id of only ?? Object.keys(event.contenders)) {
      const name = id === 'pino' ? 'by-hand' : 'host'
      servers.set(id, await fixture.startServer(name, { core: 0, environment: environments[id] ?? {} }))
    }

    async function load(id: string, ms: number) {
      const server = servers.get(id)
      if (!server) throw new Error(`There is no ${id}.`)
      const kind = environments[id] ? 'send' : 'health'
      const order: LoadOrder = { port: server.port, connections: CONNECTIONS, ms: quick ? 300 : ms, kind }
      const before = usageOf(server).cpuMs
      const { done, wallMs } = await generator.ask<LoadReport>(order)
      const { cpuMs, residentBytes } = usageOf(server)
      const cpuMicroseconds = ((cpuMs - before) * 1_000) / done
      return { perSecond: (done * 1_000) / wallMs, cpuMicroseconds, residentBytes, startMs: server.startMs }
    }
    return {
      warm: (id) => load(id, 2_000),
      measure: (id) => load(id, 1_000),
      async stop() {
        await Promise.all([generator, ...servers.values()].map((process) => process.stop()))
        await provider?.stop()
        await redis?.close()
      },
    }
  },
}
