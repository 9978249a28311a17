import type { DeliveryStore } from '@org/core'
import { memoryStore } from '@org/core/internal/host'
import type { RedisStoreOptions } from '@org/core/stores/redis'

/** Options of {@link createFunctionStore}. */
interface FunctionStoreOptions extends Pick<RedisStoreOptions, 'now' | 'recordKeys'> {
  /** Longest time to connect to Redis, in milliseconds; 2,000 by default. */
  connectMs?: number
}

/**
 * Makes the delivery store of a function, for `memory:` or Redis. Platforms halt a function between events, and some
 * forbid it to use a connection that another event opened. So each operation opens its own connection, and closes it.
 */
export function createFunctionStore(
  location: string,
  { connectMs, ...options }: FunctionStoreOptions = {},
): DeliveryStore {
  if (location === 'memory:') return memoryStore(options)

  async function briefly<T>(use: (store: DeliveryStore) => Promise<T>): Promise<T> {
    // Loaded with the first operation: a function should start fast.
    const [{ connectRedis }, { redisStore }] = await Promise.all([
      import('./redis.ts'),
      import('@org/core/stores/redis'),
    ])
    const client = await connectRedis(location, connectMs)
    return use(redisStore({ client, ...options })).finally(() => client.destroy())
  }

  return {
    claim: (request) => briefly((store) => store.claim(request)),
    renew: (lease, leaseMs) => briefly((store) => store.renew(lease, leaseMs)),
    advance: (lease, steps) => briefly((store) => store.advance(lease, steps)),
    complete: (lease, completion) => briefly((store) => store.complete(lease, completion)),
    release: (lease) => briefly((store) => store.release(lease)),
    reopen: (...values) => briefly((store) => store.reopen(...values)),
    reserve: (reservation) => briefly((store) => store.reserve(reservation)),
    read: (...values) => briefly((store) => store.read(...values)),
    probe: () => briefly((store) => store.probe()),
  }
}
