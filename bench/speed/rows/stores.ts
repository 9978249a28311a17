import { hasRedis, startRedis } from '../../chaos/redis.ts'
import { microseconds, perSecond } from '../../shared/format.ts'
import { type ServerProcess, startWorker, usageOf } from '../../shared/processes.ts'
import { loadServers } from '../load.ts'
import type { Row } from '../row.ts'

const CONNECTIONS = 32

export const stores: Row = {
  id: 'stores',
  title: 'What each store costs: one host on one core',
  method: `The host runs on one core. The generator (${CONNECTIONS} connections), the provider, which answers at once, and Redis (\`appendfsync always\`) share the other. A health check claims nothing, so it shows the host without a store. One host works at a time, in a new order each round. The processor time of SQLite is a part of the host's.`,
  contenders: [
    { id: 'health', title: 'HEALTH_CHECK on `/auth`, no claim', kind: 'ours' },
    { id: 'memory', title: '`sendEmail`, `memory:`', kind: 'ours' },
    { id: 'sqlite', title: '`sendEmail`, `sqlite:`', kind: 'ours' },
    { id: 'redis', title: '`sendEmail`, `redis:`', kind: 'ours' },
  ],
  rounds: 7,
  columns: [
    { value: 'perSecond', title: 'events', format: perSecond },
    { value: 'cpuMicroseconds', title: 'processor time an event, host', format: microseconds },
    { value: 'redisMicroseconds', title: 'processor time an event, Redis', format: microseconds },
  ],
  async start({ fixture, quick }) {
    if (!hasRedis) throw new Error('redis-server is missing. Install the Debian package redis-server.')
    const redis = await startRedis()
    const provider = await fixture.startProvider()
    const locations = {
      memory: 'memory:',
      sqlite: `sqlite:${fixture.folder}/deliveries.db`,
      redis: redis.url,
    }
    const hosts = new Map<string, ServerProcess>()
    for (const [id, DELIVERY_STORE] of Object.entries(locations)) {
      const environment = {
        DELIVERY_STORE,
        MAILER_API_BASE: provider.url,
        MAILER_SHARED_API_TOKEN: 'server-token',
        MAILER_SHARED_FROM_EMAIL: 'shop@example.com',
      }
      hosts.set(id, await fixture.startServer('ours', { core: 0, environment }))
    }
    const generator = await startWorker(await fixture.program('generator'), { core: 1 })
    async function load(id: string) {
      const host = hosts.get(id) ?? hosts.get('memory')
      const before = usageOf(redis).cpuMs
      const ms = quick ? 300 : 2_000
      const report = await loadServers(host ? [host] : [], [generator], {
        ...(id === 'health'
          ? { path: '/auth/webhook', mix: ['health'] }
          : { path: '/mailer/webhook', mix: ['send'] }),
        connections: CONNECTIONS,
        ms,
      })
      const redisMs = usageOf(redis).cpuMs - before
      return { ...report, redisMicroseconds: (redisMs * 1_000) / ((report.perSecond * ms) / 1_000) }
    }
    return {
      warm: load,
      measure: load,
      async stop() {
        await Promise.all([generator, provider, ...hosts.values()].map((process) => process.stop()))
        await redis.close()
      },
    }
  },
}
