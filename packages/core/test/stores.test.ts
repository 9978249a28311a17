import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type DeliveryStore, memoryStore } from '@org/core'
import type { Json } from '@org/core/internal'
import { redisStore } from '@org/core/stores/redis'
import { type SqliteStore, sqliteStore } from '@org/core/stores/sqlite'
import { describeDeliveryStore } from '@org/core/testing'
import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'

const runner = { describe, it, expect, beforeEach }
const request = { subject: 's', delivery: { id: 'evt_1', digest: 'd' }, leaseMs: 60_000 }
const response = { status: 200, body: 'encrypted' }

/** Claims a subject and completes it at once. */
async function run(
  store: DeliveryStore,
  subject = request.subject,
  id = request.delivery.id,
  { progress = {}, body = response.body }: { progress?: Record<string, Json>; body?: string } = {},
) {
  const result = await store.claim({ ...request, subject, delivery: { id, digest: 'd' } })
  const kept = { keepMs: 60_000, keepResponseMs: 60_000 }
  if (result.state === 'claimed')
    await store.complete(result.lease, { response: { ...response, body }, progress, ...kept })
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
  /** Room for two records without steps. */
  const capacity = 2_500

  it('drops the finished call that was claimed the longest ago', async () => {
    const store = memoryStore({ capacity })
    for (const [subject, id] of [['a'], ['b'], ['a', 'later'], ['c']]) await run(store, subject, id)
    expect([await run(store, 'a'), await run(store, 'c')]).toEqual(['done', 'done'])
    expect(await run(store, 'b')).toBe('claimed')
  })

  it('counts bytes: one long answer drops many calls', async () => {
    const store = memoryStore({ capacity: 10 * capacity })
    for (const subject of ['a', 'b', 'c']) await run(store, subject)
    await run(store, 'long', 'evt_1', { body: 'x'.repeat(10 * capacity) })
    await run(store, 'd')
    expect(await Promise.all(['a', 'b', 'long', 'd'].map((subject) => store.read(subject)))).toEqual([
      undefined,
      undefined,
      undefined,
      expect.objectContaining({ fence: 1 }),
    ])
  })

  it('never drops a live claim, a tombstone or what a deployment left at a provider, but takes no new subject', async () => {
    const store = memoryStore({ capacity })
    await store.claim({ ...request, subject: 'held' })
    await run(store, 'tombstone', 'evt_1', { progress: { '@deleted': true } })
    for (const refused of [run(store, 'unpublished'), store.probe()])
      await expect(refused).rejects.toThrow('The memory store is full')
    for (const subject of ['held', 'tombstone']) expect(await store.read(subject)).toMatchObject({ fence: 1 })
    expect(await run(store, 'tombstone', 'evt_2')).toBe('claimed')
    expect(await run(store, 'other')).toBe('claimed')
  })

  it('has room again for what expired', async () => {
    let time = 0
    const store = memoryStore({ capacity, now: () => time })
    for (const subject of ['a', 'b']) await run(store, subject, 'evt_1', { progress: { step: 'created' } })
    await expect(run(store, 'c')).rejects.toThrow('full')
    time += 60_000
    expect(await run(store, 'c')).toBe('claimed')
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
  describeDeliveryStore(runner, 'Redis (node-redis)', (now) => empty(nodeRedis, now))
  describeDeliveryStore(runner, 'Redis (ioredis)', (now) => empty(ioredis, now))

  it('keeps a step if an earlier value of it arrives late, over another connection', async () => {
    const held = Promise.withResolvers<void>()
    let isHeld = false
    const sendCommand = (command: string[]) =>
      isHeld ? held.promise.then(() => nodeRedis.sendCommand(command)) : nodeRedis.sendCommand(command)
    const slow = redisStore({ client: { sendCommand }, prefix: 'order:', timeoutMs: 20 })
    const store = redisStore({ client: nodeRedis, prefix: 'order:' })
    const result = await store.claim(request)
    if (result.state !== 'claimed') throw new Error(result.state)
    isHeld = true
    await expect(slow.advance(result.lease, { step: 'earlier' })).rejects.toThrow()
    await store.advance(result.lease, { step: 'later' })
    held.resolve()
    await nodeRedis.ping()
    expect((await store.read('s'))?.progress).toEqual({ step: 'later' })
  })

  it('takes the time from Redis by default', async () => {
    const store = empty(nodeRedis)
    expect(await store.claim(request)).toMatchObject({ state: 'claimed' })
    const busy = await store.claim(request)
    expect(busy.state === 'busy' && busy.retryAfterMs).toBeGreaterThan(50_000)
  })

  it('lets each answer of a deployment expire by itself after seven days, and keeps its record as short as it was', async () => {
    const store = empty(nodeRedis)
    const day = 24 * 60 * 60 * 1000
    const deliver = async (id: string) => {
      const result = await store.claim({ ...request, delivery: { id, digest: 'd' } })
      if (result.state !== 'claimed') throw new Error(result.state)
      const completion = { response, progress: { step: 'created' }, keepMs: 36_500 * day }
      await store.complete(result.lease, { ...completion, keepResponseMs: 7 * day })
    }
    await deliver('evt_1')
    const [record = ''] = await nodeRedis.keys(`${prefix}:*}`)
    const length = await nodeRedis.hLen(record)
    for (let at = 2; at <= 30; at += 1) await deliver(`evt_${at}`)
    expect(await nodeRedis.hLen(record)).toBe(length)
    expect(await nodeRedis.pTTL(record)).toBeGreaterThan(36_000 * day)
    const left = await Promise.all([1, 30].map((at) => nodeRedis.pTTL(`${record}:evt_${at}`)))
    for (const ms of left) expect([ms > 6.9 * day, ms <= 7 * day]).toEqual([true, true])
  })

  it('keeps an unfinished record for days after its lease ends, and of an answered call only the answer', async () => {
    const store = empty(nodeRedis)
    const subject = 'mailer/delivery/evt_1'
    const result = await store.claim({ ...request, subject })
    const [record = ''] = await nodeRedis.keys(`${prefix}:*`)
    expect(await nodeRedis.pTTL(record)).toBeGreaterThan(6 * 24 * 60 * 60 * 1000)
    const kept = { keepMs: 60_000, keepResponseMs: 60_000 }
    if (result.state === 'claimed') await store.complete(result.lease, { response, progress: {}, ...kept })
    expect(await nodeRedis.keys(`${prefix}:*`)).toEqual([`${record}=`])
  })

  it('fails within its time limit while Redis hangs', async () => {
    const store = redisStore({ client: nodeRedis, prefix: 'late:', timeoutMs: 50 })
    server.kill('SIGSTOP')
    await expect(store.claim(request)).rejects.toThrow('did not answer within 50 ms')
    await expect(store.probe()).rejects.toThrow()
    server.kill('SIGCONT')
    await expect(redisStore({ client: nodeRedis }).probe()).resolves.toBeUndefined()
  })

  it('gives no claim to a request that arrives when its owner has ended the work', async () => {
    const store = empty(nodeRedis)
    const owned = { ...request, owner: 'holder' }
    const result = await store.claim(owned)
    if (result.state === 'claimed') await store.release(result.lease)
    expect(await store.claim(owned)).toMatchObject({ state: 'busy' })
    expect(await store.claim(request)).toMatchObject({ state: 'claimed' })
  })
})
