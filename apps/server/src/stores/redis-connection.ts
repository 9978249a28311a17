/**
 * One connection to Redis, to its cluster, or to the primary that its sentinels name.
 *
 * @module
 */
import { createClient, createCluster } from '@redis/client'
import * as z from 'zod'
import { explainRedis } from './redis-errors.ts'
import { parseRedisLocation, type RedisLocation } from './redis-location.ts'
import { within } from './within.ts'

/** Longest time to connect, in milliseconds. */
const CONNECT_MS = 2_000
/** Longest time for one of several servers, so that there is time for another, in milliseconds. */
const CONNECT_ONE_MS = 900

/** In the key of a probe, which has to be written to every primary of a cluster. */
const PROBE_TAG = '{probe}'
const SLOTS = 16_384
/** A primary that none of so many tags hits has next to no slots. */
const MOST_TAGS = 1_000

/** A connection that fails for good when it breaks. */
export interface RedisConnection {
  sendCommand(command: string[]): Promise<unknown>
  /** Calls back with each fault after which the connection, or a part of it, sends nothing more. */
  onFault(listener: (error: Error) => void): void
  /** Whether it leads to several servers: when one fails, the others still work. */
  isShared: boolean
  destroy(): void
}

/**
 * Opens one connection.
 *
 * @param timeoutMs longest time until Redis has answered, in milliseconds
 * @throws {Error} with the cause if Redis was not reached
 */
export async function connectRedis(location: string, timeoutMs = CONNECT_MS): Promise<RedisConnection> {
  const parsed = parseRedisLocation(location)
  const servers = parsed.kind === 'sentinel' ? await findPrimary(parsed) : parsed
  return open(servers, timeoutMs).catch((error: unknown) => {
    throw explainRedis(error, servers)
  })
}

async function open(location: RedisLocation, timeoutMs: number): Promise<RedisConnection> {
  const { connecting, ...connection } = location.kind === 'cluster' ? toCluster(location) : toServer(location)
  const hint = location.tls ? ' rediss:// needs a Redis that uses TLS.' : ''
  try {
    await within(timeoutMs, connecting, `Redis was not reached within ${timeoutMs} ms.${hint}`)
    return connection
  } catch (error) {
    connection.destroy()
    // Closes a connection that opens too late.
    connecting.then(connection.destroy, () => {})
    throw error
  }
}

type Connecting = RedisConnection & { connecting: Promise<unknown> }

function toServer({ nodes: [node], tls, database, credentials }: RedisLocation): Connecting {
  // The client's own time limit covers no handshake, and warns on Workers for each connection.
  const client = createClient({
    ...OPTIONS,
    ...credentials,
    database,
    socket: { ...node, ...socketOf(tls, 0) },
  })
  // Commands under way fail with the same error.
  client.on('error', () => {})
  return {
    connecting: client.connect(),
    sendCommand: (command) => client.sendCommand(command),
    onFault: (listener) => void client.on('error', listener),
    isShared: false,
    destroy: () => client.destroy(),
  }
}

function toCluster({ nodes, tls, credentials }: RedisLocation): Connecting {
  const cluster = createCluster({
    rootNodes: nodes.map((socket) => ({ socket })),
    defaults: { ...OPTIONS, ...credentials, socket: socketOf(tls, CONNECT_ONE_MS) },
    // A server that is down must not keep the host from the others.
    minimizeConnections: true,
  })
  let cause: unknown
  cluster.on('error', (error) => {
    cause = error
  })
  return {
    // Its own error says only that it has reached none.
    connecting: cluster.connect().catch((error: unknown) => Promise.reject(cause ?? error)),
    async sendCommand(command) {
      // The key of a script of the store; a question about the server has none.
      const key = command[0] === 'EVAL' ? command[3] : undefined
      if (!key?.endsWith(PROBE_TAG)) return cluster.sendCommand(key, false, command)
      return Promise.all(
        cluster.masters.map((primary) => {
          const tag = `{${tagOf((slot) => cluster.slots[slot]?.master === primary)}}`
          const probe = command.map((word) => word.replace(PROBE_TAG, tag))
          return cluster.sendCommand(probe[3], false, probe)
        }),
      )
    },
    onFault: (listener) => void cluster.on('node-error', listener),
    isShared: true,
    destroy: () => cluster.destroy(),
  }
}

const address = z.tuple([z.string(), z.coerce.number()])

/** Asks the sentinels for the primary, one after the other. The client's own way takes four connections for it. */
async function findPrimary(location: RedisLocation): Promise<RedisLocation> {
  const { nodes, sentinel } = location
  let failure = new Error('The sentinels were not asked.')
  for (const node of nodes) {
    const asked = { ...location, nodes: [node], credentials: sentinel.credentials, database: 0 }
    try {
      const { sendCommand, destroy } = await open(asked, CONNECT_ONE_MS)
      const reply = await sendCommand(['SENTINEL', 'GET-MASTER-ADDR-BY-NAME', sentinel.name]).finally(destroy)
      if (reply === null) throw new Error('The sentinels know no primary of the name in DELIVERY_STORE.')
      const [host, port] = address.parse(reply)
      return { ...location, kind: 'server', nodes: [{ host, port }] }
    } catch (error) {
      failure = explainRedis(error, asked)
    }
  }
  throw failure
}

const OPTIONS = {
  // A command that can't be sent fails now. Later nobody would wait for its result.
  disableOfflineQueue: true,
  // Saves a command.
  disableClientInfo: true,
  maintNotifications: 'disabled',
} as const

const socketOf = (tls: boolean, connectTimeout: number) =>
  ({ ...(tls && { tls }), connectTimeout, reconnectStrategy: false }) as const

/** Finds a tag whose keys are in one of the slots of a primary. */
function tagOf(isThere: (slot: number) => boolean): string {
  const tags = Array.from({ length: MOST_TAGS }, (_, at) => `probe${at}`)
  return tags.find((tag) => isThere(slotOf(tag))) ?? 'probe'
}

/** The slot of a tag in ASCII: its CRC-16 (https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/). */
function slotOf(tag: string): number {
  let crc = 0
  for (const character of tag) {
    crc ^= character.charCodeAt(0) << 8
    for (let bit = 0; bit < 8; bit += 1) crc = ((crc << 1) ^ (crc & 0x8000 ? 0x1021 : 0)) & 0xffff
  }
  return crc % SLOTS
}
