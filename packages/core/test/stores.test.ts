/** The conformance suite on each store, and what only one store promises; `sqlite-store.test.ts` has the file. */
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type DeliveryStore, memoryStore } from '@org/core'
import { type RedisClient, redisStore } from '@org/core/stores/redis'
import { type SqliteStore, sqliteStore } from '@org/core/stores/sqlite'
import { describeDeliveryStore } from '@org/core/testing'
import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'

const runner = { describe, it, expect, beforeEach }
const request = { subject: 's', delivery: { id: 'evt_1', digest: 'd' }, leaseMs: 60_000 }
const DAY_MS = 24 * 60 * 60 * 1000
const newFolder = () => mkdtempSync(join(tmpdir(), 'store-'))

/** Claims a subject and completes it at once. */
async function run(store: DeliveryStore, subject: string, { id = 'evt_1', body = 'encrypted' } = {}) {
  const result = await store.claim({ ...request, subject, delivery: { id, digest: 'd' } })
  if (result.state !== 'claimed') throw new Error(result.state)
  const progress = { step: 'created' }
  await store.complete(result.lease, { response: { status: 200, body }, progress, isLiving: true })
}

describeDeliveryStore(runner, 'memory', (now) => memoryStore({ now }))

describe('in a file', () => {
  let store: SqliteStore
  afterEach(() => store.close())
  describeDeliveryStore(runner, 'SQLite', (now) => {
    store = sqliteStore({ file: join(newFolder(), 'deliveries.db'), now })
    return store
  })
})

it('a full memory store drops the records that were written the longest ago', async () => {
  /** Room for two records. */
  const capacity = 900
  const store = memoryStore({ capacity })
  const kept = async (...subjects: string[]) => {
    const records = await Promise.all(subjects.map((subject) => store.read(subject)))
    return subjects.filter((_, at) => records[at])
  }
  for (const subject of ['a', 'b', 'a', 'c']) await run(store, subject, { id: `evt_${crypto.randomUUID()}` })
  expect(await kept('a', 'b', 'c')).toEqual(['a', 'c'])
  await run(store, 'long', { body: 'x'.repeat(capacity) })
  await run(store, 'd')
  expect(await kept('a', 'c', 'long', 'd')).toEqual(['d'])
})

const hasRedis = spawnSync('redis-server', ['--version']).status === 0
// Loud, so that nobody takes a run without Redis for a run with it.
if (!hasRedis)
  process.stderr.write('SKIPPED: the Redis store. Install the Debian package redis-server to test it.\n')

describe.skipIf(!hasRedis)('the Redis store', () => {
  let server: ReturnType<typeof spawn>
  let nodeRedis: ReturnType<typeof createClient>
  let ioredis: Redis
  let prefix = 0

  beforeAll(async () => {
    const folder = newFolder()
    const path = join(folder, 'redis.sock')
    const options = ['--port', '0', '--unixsocket', path, '--dir', folder, '--save', '', '--appendonly', 'no']
    const child = spawn('redis-server', options)
    server = child
    for await (const line of createInterface({ input: child.stdout })) {
      if (/ready to accept connections/i.test(line)) break
    }
    nodeRedis = createClient({ socket: { path, reconnectStrategy: false }, disableOfflineQueue: true })
    nodeRedis.on('error', () => {})
    await nodeRedis.connect()
    ioredis = new Redis(path)
  })

  afterAll(() => {
    server.kill('SIGKILL')
    ioredis.disconnect()
  })

  function empty(client: RedisClient, now?: () => number) {
    prefix += 1
    return redisStore({ client, prefix: `${prefix}:`, ...(now ? { now } : {}) })
  }

  describeDeliveryStore(runner, 'Redis (node-redis)', (now) => empty(nodeRedis, now))
  describeDeliveryStore(runner, 'Redis (ioredis)', (now) => empty(ioredis, now))

  it('takes the time from Redis, and lets each record expire after its time, which grows with no delivery', async () => {
    const store = empty(nodeRedis)
    const keys = () => nodeRedis.keys(`${prefix}:4:*`)
    const days = async (key: string) => Math.ceil((await nodeRedis.pTTL(key)) / DAY_MS)
    const { state } = await store.claim(request)
    const busy = await store.claim(request)
    expect([state, busy.state === 'busy' && busy.retryAfterMs > 50_000]).toEqual(['claimed', true])
    const [claimed = ''] = await keys()
    expect(await days(claimed)).toBe(7)

    await run(store, 'deployment')
    const record = (await keys()).find((key) => key !== claimed) ?? ''
    const length = await nodeRedis.strLen(record)
    for (let at = 2; at <= 30; at += 1) await run(store, 'deployment', { id: `evt_${at}` })
    expect(await nodeRedis.strLen(record)).toBeLessThan(length + 10)
    expect(await days(record)).toBeGreaterThan(36_000)
    const earlier = (await keys()).filter((key) => key !== record && key !== claimed)
    expect(await Promise.all(earlier.map(days))).toEqual(Array(29).fill(7))
  })

  it('fails within its time limit while Redis hangs', async () => {
    const store = redisStore({ client: nodeRedis, prefix: 'late:', timeoutMs: 50 })
    server.kill('SIGSTOP')
    await expect(store.claim(request)).rejects.toThrow('did not answer within 50 ms')
    await expect(store.probe()).rejects.toThrow()
    server.kill('SIGCONT')
    await expect(redisStore({ client: nodeRedis }).probe()).resolves.toBeUndefined()
  })
})
