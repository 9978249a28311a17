import { hasRedis, type RedisServer, startRedis } from '../../chaos/redis.ts'
import { microseconds, perSecond, times } from '../../shared/format.ts'
import { type ServerProcess, startWorker, usageOf } from '../../shared/processes.ts'
import type { LoadOrder, LoadReport } from '../programs/generator.ts'
import { atLeast, atMost, type Row } from '../row.ts'

const CONNECTIONS = 50

export const event: Row = {
  id: 'event',
  title: `Signed events by the second, ${CONNECTIONS} connections, one core`,
  method:
    'Each server runs on one core, the generator (plain sockets, requests prepared beforehand) on another, which it shares with the provider and Redis (`appendfsync always`). One server works at a time, another one first in each round. Logs go to a file. The echo parses the JSON of the request and responds with it, unsigned and unchecked. The processor time of an event is what the kernel counts for the server, the thread of SQLite included.',
  contenders: [
    { id: 'echo', title: 'bare hono echo', kind: 'floor' },
    { id: 'pino', title: 'HEALTH_CHECK by hand: hono, zod, `createHmac`, pino', kind: 'floor' },
    { id: 'ours', title: 'HEALTH_CHECK on our host, log included', kind: 'ours' },
    { id: 'sqlite', title: '`sendEmail` on our host, `sqlite:`', kind: 'ours' },
    { id: 'redis', title: '`sendEmail` on our host, `redis:`', kind: 'ours' },
  ],
  rounds: 9,
  columns: [
    { value: 'perSecond', title: 'events', format: perSecond, against: 'echo' },
    { value: 'cpuMicroseconds', title: 'processor time an event', format: microseconds, against: 'pino' },
  ],
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
      const mix = id === 'sqlite' || id === 'redis' ? (['send'] as const) : (['health'] as const)
      const order: LoadOrder = { port: server.port, connections: CONNECTIONS, ms: quick ? 300 : ms, mix }
      const before = usageOf(server).cpuMs
      const { done, wallMs, statuses } = await generator.ask<LoadReport>(order)
      if (statuses['200'] !== done)
        throw new Error(`Not every status of ${id} is 200: ${JSON.stringify(statuses)}.`)
      const cpuMs = usageOf(server).cpuMs - before
      return { perSecond: (done * 1_000) / wallMs, cpuMicroseconds: (cpuMs * 1_000) / done }
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
  targets: ({ median, ratio }) => [
    atLeast('events of a HEALTH_CHECK × the echo', ratio('perSecond', 'ours', 'echo'), 0.6, times),
    atMost('its processor time × by hand', ratio('cpuMicroseconds', 'ours', 'pino'), 1, times),
    atLeast('sends with SQLite × with Redis', ratio('perSecond', 'sqlite', 'redis'), 0.9, times),
    atMost('processor time of a send with Redis', median('cpuMicroseconds', 'redis'), 350, microseconds),
  ],
}
