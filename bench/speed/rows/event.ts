import { hasRedis, type RedisServer, startRedis } from '../../chaos/redis.ts'
import { megabytes, microseconds, perSecond, times } from '../../shared/format.ts'
import { type ServerProcess, startWorker, usageOf } from '../../shared/processes.ts'
import type { LoadOrder, LoadReport } from '../programs/generator.ts'
import type { Row } from '../row.ts'

const CONNECTIONS = 50

export const event: Row = {
  id: 'event',
  title: `Signed events by the second, ${CONNECTIONS} connections, one core`,
  method:
    'Each server runs on one core, the generator (plain sockets, requests prepared beforehand) on another, which it shares with the provider and Redis (`appendfsync always`). One server works at a time, another one first in each round. Logs go to a file. The echo parses the JSON of the request and responds with it, unsigned and unchecked. The processor time of an event is what the kernel counts for the server, the thread of SQLite included. The memory is the resident set at the end of a round.',
  contenders: {
    echo: 'bare hono echo',
    pino: 'HEALTH_CHECK by hand: hono, zod, `createHmac`, pino',
    ours: 'HEALTH_CHECK on our host, log included',
    sqlite: '`sendEmail` on our host, `sqlite:`',
    redis: '`sendEmail` on our host, `redis:`',
  },
  rounds: 9,
  columns: {
    perSecond: { title: 'events', format: perSecond, against: 'echo' },
    cpuMicroseconds: { title: 'processor time an event', format: microseconds, against: 'pino' },
    residentBytes: { title: 'memory', format: megabytes },
  },
  async start({ fixture, quick, only }) {
    const generator = await startWorker(await fixture.program('generator'), { core: 1 })
    const provider = only ? undefined : await fixture.startProvider()
    if (!only && !hasRedis) throw new Error('redis-server is missing.')
    const redis: RedisServer | undefined = only ? undefined : await startRedis()
    const mailer = {
      MAILER_API_BASE: provider?.url,
      MAILER_SHARED_API_TOKEN: 'server-token',
      MAILER_SHARED_FROM_EMAIL: 'shop@example.com',
    }
    const startHost = (DELIVERY_STORE?: string) =>
      fixture.startServer('host', {
        core: 0,
        environment: DELIVERY_STORE ? { ...mailer, DELIVERY_STORE } : {},
      })
    const starts: Readonly<Record<string, () => Promise<ServerProcess>>> = {
      echo: () => fixture.startServer('echo', { core: 0 }),
      pino: () => fixture.startServer('by-hand', { core: 0 }),
      ours: () => startHost(),
      sqlite: () => startHost(`sqlite:${fixture.folder}/deliveries.db`),
      redis: () => startHost(redis?.url),
    }
    const servers = new Map<string, ServerProcess>()
    for (const [id, start] of Object.entries(starts))
      if (only?.includes(id) ?? true) servers.set(id, await start())

    async function load(id: string, ms: number) {
      const server = servers.get(id)
      if (!server) throw new Error(`There is no ${id}.`)
      const kind = id === 'sqlite' || id === 'redis' ? 'send' : 'health'
      const order: LoadOrder = { port: server.port, connections: CONNECTIONS, ms: quick ? 300 : ms, kind }
      const before = usageOf(server).cpuMs
      const { done, wallMs } = await generator.ask<LoadReport>(order)
      const { cpuMs, residentBytes } = usageOf(server)
      const cpuMicroseconds = ((cpuMs - before) * 1_000) / done
      return { perSecond: (done * 1_000) / wallMs, cpuMicroseconds, residentBytes }
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
  targets: ({ median, most, ratio }) => [
    ['events of a HEALTH_CHECK × the echo', ratio('perSecond', 'ours', 'echo'), 'at least', 0.6, times],
    ['its processor time × by hand', ratio('cpuMicroseconds', 'ours', 'pino'), 'at most', 1, times],
    ['sends with SQLite × with Redis', ratio('perSecond', 'sqlite', 'redis'), 'at least', 0.9, times],
    ['cost of a send with Redis', median('cpuMicroseconds', 'redis'), 'at most', 350, microseconds],
    ['memory of the host', most('residentBytes', 'ours'), 'at most', 120e6, megabytes],
  ],
}
