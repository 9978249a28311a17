/** The delivery store of a function. */
import type { DeliveryStore } from '@org/core'
import { memoryStore } from '@org/core/internal/host'
import type { RedisStoreOptions } from '@org/core/stores/redis'

/**
 * Makes the store for `memory:` or Redis. Platforms halt a function between events, and some forbid it to use a connection
 * that another event opened. So each operation has its own connection.
 */
export function createFunctionStore(
  location: string,
  options: Pick<RedisStoreOptions, 'recordKeys'> = {},
): DeliveryStore {
  if (location === 'memory:') return memoryStore()

  async function connected<T>(use: (store: DeliveryStore) => Promise<T>): Promise<T> {
    // Loaded with the first claim: a function should start fast.
    const [{ connectRedis }, { redisStore }] = await Promise.all([
      import('./redis.ts'),
      import('@org/core/stores/redis'),
    ])
    const client = await connectRedis(location)
    return use(redisStore({ client, ...options })).finally(() => client.destroy())
  }

  return {
    claim: (request) => connected((store) => store.claim(request)),
    renew: (lease, leaseMs) => connected((store) => store.renew(lease, leaseMs)),
    advance: (lease, steps) => connected((store) => store.advance(lease, steps)),
    complete: (lease, completion) => connected((store) => store.complete(lease, completion)),
    release: (lease) => connected((store) => store.release(lease)),
    reopen: (...values) => connected((store) => store.reopen(...values)),
    reserve: (reservation) => connected((store) => store.reserve(reservation)),
    read: (...values) => connected((store) => store.read(...values)),
    probe: () => connected((store) => store.probe()),
  }
}
