/**
 * The delivery store of a function. Platforms halt a function between events, and some forbid it to use a
 * connection that another event opened. So each claim opens its own connection, and closes it.
 */
import type { DeliveryStore } from '@org/core'
import { memoryStore } from '@org/core/internal/host'
import type { RedisStoreOptions } from '@org/core/stores/redis'

type Lease = Parameters<DeliveryStore['renew']>[0]

/** A store over one connection. */
interface Connection {
  store: DeliveryStore
  close(): void
}

/** Makes the store for `memory:` or Redis. It connects with the first claim. */
export function createFunctionStore(
  location: string,
  options: Pick<RedisStoreOptions, 'recordKeys'> = {},
): DeliveryStore {
  if (location === 'memory:') return memoryStore()
  /** The connections of claims, by owner. */
  const held = new Map<string, Connection>()

  async function open(): Promise<Connection> {
    // Loaded with the first claim: a function should start fast.
    const [{ connectRedis }, { redisStore }] = await Promise.all([
      import('./redis.ts'),
      import('@org/core/stores/redis'),
    ])
    const client = await connectRedis(location)
    return { store: redisStore({ client, ...options }), close: () => client.destroy() }
  }

  async function briefly<T>(use: (store: DeliveryStore) => Promise<T>): Promise<T> {
    const { store, close } = await open()
    return use(store).finally(close)
  }

  function drop({ owner }: Lease): void {
    held.get(owner)?.close()
    held.delete(owner)
  }

  /** Uses the connection of the claim, or a new one if it broke. */
  async function under<T>(lease: Lease, use: (store: DeliveryStore) => Promise<T>): Promise<T> {
    const own = held.get(lease.owner)
    if (!own) return briefly(use)
    return use(own.store).catch(() => {
      drop(lease)
      return briefly(use)
    })
  }

  return {
    async claim(request) {
      const connection = await open()
      const result = await connection.store.claim(request).catch((error: unknown) => {
        connection.close()
        throw error
      })
      if (result.state === 'claimed') held.set(result.lease.owner, connection)
      else connection.close()
      return result
    },
    renew: (lease, leaseMs) => under(lease, (store) => store.renew(lease, leaseMs)),
    advance: (lease, steps) => under(lease, (store) => store.advance(lease, steps)),
    complete: (lease, completion) =>
      under(lease, (store) => store.complete(lease, completion)).finally(() => drop(lease)),
    release: (lease) => under(lease, (store) => store.release(lease)).finally(() => drop(lease)),
    reopen: (...values) => briefly((store) => store.reopen(...values)),
    reserve: (reservation) => briefly((store) => store.reserve(reservation)),
    read: (...values) => briefly((store) => store.read(...values)),
    probe: () => briefly((store) => store.probe()),
  }
}
