/** The conformance suite on each store, and what only one store promises. */
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type DeliveryStore, memoryStore } from '@org/core'
import type { Json } from '@org/core/hosting'
import { redisStore } from '@org/core/stores/redis'
import { type SqliteStore, sqliteStore } from '@org/core/stores/sqlite'
import { describeDeliveryStore } from '@org/core/testing'
import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'

const runner = { describe, it, expect, beforeEach }
const request = { subject: 's', delivery: { id: 'evt_1', digest: 'd' }, leaseMs: 60_000 }
const DAY_MS = 24 * 60 * 60 * 1000

interface Written {
  subject: string
  id: string
  body: string
  progress: Record<string, Json>
  isLiving: boolean
}

/** Claims a subject and completes it at once. */
async function run(
  store: DeliveryStore,
  { subject = 's', id = 'evt_1', body = 'encrypted', ...others }: Partial<Written> = {},
) {
  const result = await store.claim({ ...request, subject, delivery: { id, digest: 'd' } })
  const completion = { response: { status: 200, body }, progress: {}, isLiving: false }
  if (result.state === 'claimed') await store.complete(result.lease, { ...completion, ...others })
  return result.state
}

describeDeliveryStore(runner, 'memory', (now) => memoryStore({ now }))

let sqlite: SqliteStore | undefined
describeDeliveryStore(runner, 'SQLite', async (now) => {
  await sqlite?.close()
  sqlite = sqliteStore({ file: ':memory:', now })
  return sqlite
})

describe('the memory store at its capacity', () => {
  /** Room for two records. */
  const capacity = 900

  it('drops the calls that were answered the longest ago: one for another, several for a long one', async () => {
    const store = memoryStore({ capacity })
    const isKept = async (subject: string) => (await store.read(subject)) !== undefined
    for (const subject of ['a', 'b', 'c']) await run(store, { subject })
    expect(await Promise.all(['a', 'b', 'c'].map(isKept))).toEqual([false, true, true])
    await run(store, { subject: 'long', body: 'x'.repeat(capacity) })
    await run(store, { subject: 'd' })
    expect(await Promise.all(['b', 'c', 'long', 'd'].map(isKept))).toEqual([false, false, false, true])
  })

  it('drops no live claim, tombstone or step of a deployment, and takes no new subject until one expires', async () => {
    let time = 0
    const store = memoryStore({ capacity, now: () => time })
    await store.claim({ ...request, subject: 'held' })
    await run(store, { subject: 'tombstone', progress: { '@deleted': true } })
    for (const refused of [run(store, { subject: 'other' }), store.probe()])
      await expect(refused).rejects.toThrow('The memory store is full')
    for (const subject of ['held', 'tombstone']) expect(await store.read(subject)).toMatchObject({ fence: 1 })
    time += 7 * DAY_MS
    expect(await run(store, { subject: 'other' })).toBe('claimed')
  })
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
    const folder = mkdtempSync(join(tmpdir(), 'redis-'))
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

  const empty = (client: Parameters<typeof redisStore>[0]['client'], now?: () => number) => {
    prefix += 1
    return redisStore({ client, prefix: `${prefix}:`, ...(now ? { now } : {}) })
  }
  const keys = () => nodeRedis.keys(`${prefix}:4:*`)

  describeDeliveryStore(runner, 'Redis (node-redis)', (now) => empty(nodeRedis, now))
  describeDeliveryStore(runner, 'Redis (ioredis)', (now) => empty(ioredis, now))

  it('takes the time from Redis by default, and keeps an unfinished record for days', async () => {
    const store = empty(nodeRedis)
    expect(await store.claim(request)).toMatchObject({ state: 'claimed' })
    const busy = await store.claim(request)
    expect(busy.state === 'busy' && busy.retryAfterMs).toBeGreaterThan(50_000)
    const [record = ''] = await keys()
    expect(await nodeRedis.pTTL(record)).toBeGreaterThan(6 * DAY_MS)
  })

  it('lets each response of a deployment expire after seven days, and keeps its record as short as it was', async () => {
    const store = empty(nodeRedis)
    const progress = { step: 'created' }
    const deliver = (id: string) => run(store, { id, progress, isLiving: true })
    await deliver('evt_1')
    const [record = ''] = await keys()
    const length = await nodeRedis.strLen(record)
    for (let at = 2; at <= 30; at += 1) await deliver(`evt_${at}`)
    expect(await nodeRedis.strLen(record)).toBeLessThan(length + 10)
    expect(await nodeRedis.pTTL(record)).toBeGreaterThan(36_000 * DAY_MS)
    const earlier = (await keys()).filter((key) => key !== record)
    const days = await Promise.all(
      earlier.map(async (key) => Math.ceil((await nodeRedis.pTTL(key)) / DAY_MS)),
    )
    expect(days).toEqual(Array(29).fill(7))
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
