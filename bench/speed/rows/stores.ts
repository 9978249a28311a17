import { hasRedis, startRedis } from '../../chaos/redis.ts'
import { microseconds, perSecond, times } from '../../shared/format.ts'
import { type ServerProcess, startWorker, usageOf } from '../../shared/processes.ts'
import { loadServers } from '../load.ts'
import { type Row, target } from '../row.ts'

const CONNECTIONS = 32
const MOST_MICROSECONDS = 350
/** The least events with SQLite, as a multiple of those with Redis. */
const LEAST_TIMES = 0.9

/** The events that need no store, and those that are claimed. */
const free = {
  health: { title: 'HEALTH_CHECK on `/auth`, no call', path: '/auth/webhook' },
  read: { title: '`getUser`, one call', path: '/idp/webhook' },
  metrics: { title: 'METRIC_UPDATE on `/mailer`, one call', path: '/mailer/webhook' },
} as const
const claimed = {
  send: '`sendEmail`, one call',
  create: 'DEPLOYMENT_CREATED on `/mailer`, one call and four callbacks',
} as const
const storeIds = ['memory', 'sqlite', 'redis'] as const

const events = [
  ...(['health', 'read', 'metrics'] as const).map((kind) => ({
    id: kind,
    kind,
    store: 'memory',
    ...free[kind],
  })),
  ...(['send', 'create'] as const).flatMap((kind) =>
    storeIds.map((store) => ({
      id: `${kind}-${store}`,
      kind,
      store,
      title: `${claimed[kind]}, \`${store}:\``,
      path: '/mailer/webhook',
    })),
  ),
]

export const stores: Row = {
  id: 'stores',
  title: 'What each store costs: one host on one core',
  method: `The host runs on one core. The generator (${CONNECTIONS} connections), the provider and the platform, which answer at once, and Redis (\`appendfsync always\`) share the other. The first three claim nothing, so they need no store. One host works at a time, in a new order each round. The processor time of SQLite is a part of the host's.`,
  contenders: events.map(({ id, title }) => ({ id, title, kind: 'ours' })),
  rounds: 5,
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
        PLATFORM_API_URL: provider.url,
        IDP_API_BASE: `${provider.url}/v1`,
        IDP_SHARED_PUBLISHABLE_KEY: `pk_test_${btoa('bench.clerk.accounts.dev$')}`,
        IDP_SHARED_SECRET_KEY: `sk_test_${'s'.repeat(42)}`,
        MAILER_API_BASE: provider.url,
        MAILER_SHARED_API_TOKEN: 'server-token',
        MAILER_SHARED_FROM_EMAIL: 'shop@example.com',
      }
      hosts.set(id, await fixture.startServer('ours', { core: 0, environment }))
    }
    const generator = await startWorker(await fixture.program('generator'), { core: 1 })
    async function load(id: string) {
      const event = events.find((each) => each.id === id)
      const host = hosts.get(event?.store ?? '')
      if (!event || !host) throw new Error(`There is no ${id}.`)
      const before = usageOf(redis).cpuMs
      const ms = quick ? 300 : 2_000
      const report = await loadServers([host], [generator], {
        path: event.path,
        mix: [event.kind],
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
  targets({ spread, ratio }) {
    const cost = spread('cpuMicroseconds', 'send-redis').median
    const sqlite = ratio('perSecond', 'send-sqlite', 'send-redis').median
    return [
      target(
        `\`sendEmail\` with Redis: at most ${microseconds(MOST_MICROSECONDS)} of the host`,
        cost,
        MOST_MICROSECONDS,
        microseconds,
      ),
      {
        target: `\`sendEmail\` with SQLite: at least ${times(LEAST_TIMES)} the events of Redis`,
        measured: times(sqlite),
        reached: sqlite >= LEAST_TIMES,
      },
    ]
  },
}
