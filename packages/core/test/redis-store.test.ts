import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { redisStore } from '../src/delivery/stores/redis.ts'
import { describeDeliveryStore } from '../src/testing/index.ts'
import { hasRedis, startRedis } from './redis-server.ts'

// Loud, so that nobody takes a run without Redis for a run with it.
if (!hasRedis)
  process.stderr.write('SKIPPED: the Redis store. Install the Debian package redis-server to test it.')

describe.skipIf(!hasRedis)('the Redis store', () => {
  let server: Awaited<ReturnType<typeof startRedis>>
  let nodeRedis: ReturnType<typeof createClient>
  let ioredis: Redis
  let prefix = 0

  beforeAll(async () => {
    server = await startRedis()
    nodeRedis = createClient({
      socket: { path: server.path, reconnectStrategy: false },
      disableOfflineQueue: true,
    })
    nodeRedis.on('error', () => {})
    await nodeRedis.connect()
    ioredis = new Redis(server.path)
  })

  afterAll(() => {
    server.stop()
    ioredis.disconnect()
  })

  const empty = (client: Parameters<typeof redisStore>[0]['client'], now?: () => number) => {
    prefix += 1
    return redisStore({ client, prefix: `${prefix}:`, ...(now ? { now } : {}) })
  }
  const request = { subject: 's', delivery: { id: 'evt_1', digest: 'd' }, leaseMs: 60_000 }

  describeDeliveryStore({ describe, it, expect, beforeEach }, 'on node-redis', (now) => empty(nodeRedis, now))
  describeDeliveryStore({ describe, it, expect, beforeEach }, 'on ioredis', (now) => empty(ioredis, now))

  it('takes its time from Redis where none is given', async () => {
    const store = empty(nodeRedis)
    expect(await store.claim(request)).toMatchObject({ state: 'claimed', takenOver: false })
    const busy = await store.claim(request)
    expect(busy).toMatchObject({ state: 'busy' })
    expect(busy.state === 'busy' && busy.retryAfterMs).toBeGreaterThan(50_000)
  })

  it('keeps what is known of the work when the lease runs out, and sets an expiry on every key', async () => {
    const store = empty(nodeRedis)
    await store.claim(request)
    const retention = await nodeRedis.pTTL(`${prefix}:s`)
    expect(retention).toBeGreaterThan(6 * 24 * 60 * 60 * 1000)
  })

  it('gives a claim back that came after nobody waited for it any more', async () => {
    const store = redisStore({ client: nodeRedis, prefix: 'late:', timeoutMs: 50 })
    server.pause()
    await expect(store.claim(request)).rejects.toThrow('did not answer within 50 ms')
    server.resume()
    await expect.poll(() => store.claim(request)).toMatchObject({ state: 'claimed', takenOver: false })
  })

  it('fails within its time while Redis does not answer, and works again when it does', async () => {
    const store = redisStore({ client: nodeRedis, prefix: 'paused:', timeoutMs: 50 })
    server.pause()
    await expect(store.claim(request)).rejects.toThrow('did not answer within 50 ms')
    await expect(store.ping()).rejects.toThrow()
    server.resume()
    await expect(ioredis.ping()).resolves.toBe('PONG')
    await expect(redisStore({ client: nodeRedis }).ping()).resolves.toBeUndefined()
  })
})
