import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { freePort } from '../shared/processes.ts'
import { until } from './clock.ts'
import { type RedisServer, startRedis } from './redis.ts'

/** The primary that the sentinels watch. */
const PRIMARY = 'records'
/** A server or a primary is taken for dead after so long, in milliseconds. */
const DOWN_MS = 500

/** Several servers under one location. */
export interface RedisGroup {
  url: string
  servers: readonly RedisServer[]
  /** Resolves when the replicas have every write so far. */
  settle(): Promise<void>
  /** Kills a primary. */
  killOne(): Promise<void>
  /** Makes its replica the primary, if nobody else does. */
  promote(): Promise<void>
  close(): Promise<void>
}

const portOf = ({ url }: RedisServer) => new URL(url).port
const hostsOf = (servers: readonly RedisServer[]) => servers.map(({ url }) => new URL(url).host).join(',')

/** Starts a cluster of three primaries, each with as many replicas. */
export async function startRedisCluster({ replicas = 0 } = {}): Promise<RedisGroup> {
  const parameters = ['--cluster-enabled', 'yes', '--cluster-node-timeout', String(DOWN_MS), '--cluster-port']
  // By default they speak to each other on a port that another process may have.
  const buses = await Promise.all(Array.from({ length: 3 * (1 + replicas) }, freePort))
  const servers = await Promise.all(
    buses.map((bus) => startRedis({ parameters: [...parameters, String(bus)] })),
  )
  const hosts = hostsOf(servers).split(',')
  const options = ['--cluster-replicas', String(replicas), '--cluster-yes']
  await promisify(execFile)('redis-cli', ['--cluster', 'create', ...hosts, ...options])
  const primaries = servers.slice(0, 3)
  const followers = servers.slice(3)
  for (const server of servers)
    await until('the cluster is up', async () => /cluster_state:ok/.test(await server.ask('CLUSTER', 'INFO')))
  await linked(followers)
  const [first] = primaries
  if (!first) throw new Error('No server was started.')
  return {
    url: `redis+cluster://${hostsOf(primaries)}`,
    servers,
    ...operationsOf(primaries),
    killOne: first.kill,
    async promote() {
      for (const follower of followers) {
        const isOfFirst = (await follower.ask('INFO', 'replication')).includes(`master_port:${portOf(first)}`)
        // At once: the others may need seconds to agree on it.
        if (isOfFirst) await follower.ask('CLUSTER', 'FAILOVER', 'TAKEOVER')
      }
    },
    close: () => closeAll(servers),
  }
}

/** Starts a primary, a replica, and three sentinels that watch them. */
export async function startRedisSentinels(): Promise<RedisGroup> {
  const primary = await startRedis()
  const replica = await startRedis({ parameters: ['--replicaof', '127.0.0.1', portOf(primary)] })
  const sentinels = await Promise.all([1, 2, 3].map(() => startRedis({ isSentinel: true })))
  for (const sentinel of sentinels) {
    await sentinel.ask('SENTINEL', 'MONITOR', PRIMARY, '127.0.0.1', portOf(primary), '2')
    await sentinel.ask('SENTINEL', 'SET', PRIMARY, 'down-after-milliseconds', String(DOWN_MS))
    await sentinel.ask('SENTINEL', 'SET', PRIMARY, 'failover-timeout', '2000')
  }
  for (const sentinel of sentinels)
    await until(
      'the sentinels know each other and the replica',
      async () => {
        const facts = await sentinel.ask('SENTINEL', 'MASTERS')
        return /num-slaves\s+1\b/.test(facts) && /num-other-sentinels\s+2\b/.test(facts)
      },
      15_000,
    )
  const servers = [primary, replica]
  await linked([replica])
  return {
    url: `redis+sentinel://${hostsOf(sentinels)}/${PRIMARY}`,
    servers,
    ...operationsOf([primary]),
    killOne: primary.kill,
    promote: async () => {},
    close: () => closeAll([...servers, ...sentinels]),
  }
}

/** Resolves when replicas have what their primaries had at first. */
async function linked(replicas: readonly RedisServer[]): Promise<void> {
  for (const replica of replicas)
    await until('a replica is linked', async () =>
      /master_link_status:up/.test(await replica.ask('INFO', 'replication')),
    )
}

function operationsOf(primaries: readonly RedisServer[]): Pick<RedisGroup, 'settle'> {
  const all = (...command: string[]) => Promise.all(primaries.map((server) => server.ask(...command)))
  return {
    settle: () =>
      until('the replicas have every write', async () => {
        const offsets = (await all('INFO', 'replication')).map((facts) => [
          /master_repl_offset:(\d+)/.exec(facts)?.[1],
          /offset=(\d+)/.exec(facts)?.[1],
        ])
        return offsets.every(([own, replicated]) => own === replicated)
      }),
  }
}

async function closeAll(servers: readonly RedisServer[]): Promise<void> {
  await Promise.all(servers.map((server) => server.close()))
}
