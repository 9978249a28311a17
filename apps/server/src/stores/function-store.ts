/**
 * The delivery store of a function. Platforms halt a function between events, and some forbid it to use a
 * connection that another event opened. So each claim opens its own connection, and closes it.
 */
import type { DeliveryStore } from '@org/core'
import type { Lease } from '@org/core/internal'
import { memoryStore } from '@org/core/internal/host'
import type { RedisStoreOptions } from '@org/core/stores/redis'

/** A store over one connection. */
interface Connection {
  store: DeliveryStore
  close(): void
}

/** Options of {@link createFunctionStore}. */
interface FunctionStoreOptions extends Pick<RedisStoreOptions, 'now' | 'recordKeys'> {
  /** Longest time to connect to Redis, in milliseconds; 2,000 by default. */
  connectMs?: number
}

/** Makes the store for `memory:`, or for a location that `parseRedisLocation` parses. It connects with the first claim. */
export function createFunctionStore(
  location: string,
  { connectMs, ...options }: FunctionStoreOptions = {},
): DeliveryStore {
  if (location === 'memory:') return memoryStore(options)
  const held = new Map<string, Promise<Connection>>()

  async function open(): Promise<Connection> {
    // Loaded with the first claim: a function should start fast.
    const [{ connectRedis }, { redisStore }] = await Promise.all([
      import('./redis-connection.ts'),
      import('@org/core/stores/redis'),
    ])
    const client = await connectRedis(location, connectMs)
    return { store: redisStore({ client, ...options }), close: () => client.destroy() }
  }

  async function briefly<T>(use: (store: DeliveryStore) => Promise<T>): Promise<T> {
    const { store, close } = await open()
    return use(store).finally(close)
  }

  /** Uses the connection of the claim, or a new one if it broke. */
  async function under<T>({ owner }: Lease, use: (store: DeliveryStore) => Promise<T>): Promise<T> {
    const own = held.get(owner)
    if (!own) return briefly(use)
    try {
      return await use((await own).store)
    } catch (error) {
      // Several steps may be written at a time: the first one to fail reconnects for all of them.
      if (held.get(owner) === own) held.set(owner, closed(own).then(open))
      const other = held.get(owner)
      if (!other) throw error
      return use((await other).store)
    }
  }

  function ending<T>(lease: Lease, use: (store: DeliveryStore) => Promise<T>): Promise<T> {
    return under(lease, use).finally(async () => {
      const own = held.get(lease.owner)
      held.delete(lease.owner)
      if (own) await closed(own)
    })
  }

  return {
    async claim(request) {
      const connection = await open()
      const result = await connection.store.claim(request).catch((error: unknown) => {
        connection.close()
        throw error
      })
      if (result.state === 'claimed') held.set(result.lease.owner, Promise.resolve(connection))
      else connection.close()
      return result
    },
    renew: (lease, leaseMs) => under(lease, (store) => store.renew(lease, leaseMs)),
    advance: (lease, steps) => under(lease, (store) => store.advance(lease, steps)),
    complete: (lease, completion) => ending(lease, (store) => store.complete(lease, completion)),
    release: (lease) => ending(lease, (store) => store.release(lease)),
    reopen: (...values) => briefly((store) => store.reopen(...values)),
    reserve: (reservation) => briefly((store) => store.reserve(reservation)),
    read: (...values) => briefly((store) => store.read(...values)),
    probe: () => briefly((store) => store.probe()),
  }
}

/** Resolves when a connection is closed, or never opened. */
function closed(connection: Promise<Connection>): Promise<void> {
  return connection.then(
    ({ close }) => close(),
    () => {},
  )
}
