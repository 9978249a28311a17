import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type DeliveryStore, memoryStore } from '@org/core'
import type { Json } from '@org/core/internal'
import { createDeliveryStore, type RecordStorage } from '@org/core/stores'
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
  /** Room for two records. */
  const capacity = 900

  it('drops the call that was answered the longest ago', async () => {
    const store = memoryStore({ capacity })
    for (const subject of ['a', 'b', 'c']) await run(store, subject)
    expect([await run(store, 'b'), await run(store, 'c')]).toEqual(['done', 'done'])
    expect(await run(store, 'a')).toBe('claimed')
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

describe('the signature of a record', () => {
  function createStorage(): RecordStorage {
    const texts = new Map<string, string>()
    return {
      now: Date.now,
      read: async (key) => ({ text: texts.get(key), time: Date.now() }),
      async swap(key, mark, { text }) {
        if ((texts.get(key)?.slice(0, 24) ?? '') !== mark) return false
        texts.set(key, text)
        return true
      },
      probe: async () => {},
    }
  }

  it('is that of the first key; those of the others are recognised until each record is written again', async () => {
    const storage = createStorage()
    const by = (...keys: string[]) => createDeliveryStore(storage, keys)
    expect(await run(by('old'), 's', 'evt_1', { progress: { step: 1 } })).toBe('claimed')
    expect(await run(by('new', 'old'), 's')).toBe('done')
    await expect(by('new').read('s')).rejects.toMatchObject({ code: 'internal_error' })
    expect(await run(by('new', 'old'), 's', 'evt_2')).toBe('claimed')
    expect(await run(by('new'), 's', 'evt_2')).toBe('done')
    await expect(by('old').read('s')).rejects.toThrow('The record of s in the delivery store is not signed')
  })

  it('of a host without a key is refused by one that has a key', async () => {
    const storage = createStorage()
    await run(createDeliveryStore(storage), 's')
    expect(await run(createDeliveryStore(storage), 's')).toBe('done')
    await expect(run(createDeliveryStore(storage, ['key']), 's')).rejects.toThrow('not signed by this host')
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

  /** Two stores in one place; the writes of the first one arrive late, over another connection. */
  function createLate() {
    const { promise, resolve } = Promise.withResolvers<void>()
    const late: Promise<unknown>[] = []
    const sendCommand = (command: string[]) => {
      if (!command[1]?.includes('SET')) return nodeRedis.sendCommand(command)
      const reply = promise.then(() => nodeRedis.sendCommand(command))
      late.push(reply)
      return reply
    }
    const store = empty(nodeRedis)
    const slow = redisStore({ client: { sendCommand }, prefix: `${prefix}:`, timeoutMs: 20 })
    const arrive = async () => {
      resolve()
      return Promise.all(late)
    }
    return { store, slow, arrive }
  }

  it('keeps a step if an earlier value of it arrives late', async () => {
    const { store, slow, arrive } = createLate()
    const result = await store.claim(request)
    if (result.state !== 'claimed') throw new Error(result.state)
    await expect(slow.advance(result.lease, { step: 'earlier' })).rejects.toThrow('did not answer')
    await store.advance(result.lease, { step: 'later' })
    expect(await arrive()).toEqual([0])
    expect((await store.read('s'))?.progress).toEqual({ step: 'later' })
  })

  it('gives no claim to a request that arrives when its owner has ended the work', async () => {
    const { store, slow, arrive } = createLate()
    await store.probe()
    const owned = { ...request, owner: 'its owner' }
    await expect(slow.claim(owned)).rejects.toThrow('did not answer')
    const result = await store.claim(owned)
    if (result.state === 'claimed') await store.release(result.lease)
    expect(await arrive()).toEqual([0])
    expect(await store.read('s')).toMatchObject({ fence: 1, leaseMs: undefined })
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
    const [record = ''] = await keys()
    const length = await nodeRedis.strLen(record)
    for (let at = 2; at <= 30; at += 1) await deliver(`evt_${at}`)
    expect(await nodeRedis.strLen(record)).toBeLessThan(length + 10)
    expect(await nodeRedis.pTTL(record)).toBeGreaterThan(36_000 * day)
    const earlier = (await keys()).filter((key) => key !== record)
    expect(earlier).toHaveLength(29)
    for (const key of earlier) {
      const ms = await nodeRedis.pTTL(key)
      expect([ms > 6.9 * day, ms <= 7 * day]).toEqual([true, true])
    }
  })

  it('keeps an unfinished record for days after its lease ends', async () => {
    await empty(nodeRedis).claim(request)
    const [record = ''] = await keys()
    expect(await nodeRedis.pTTL(record)).toBeGreaterThan(6 * 24 * 60 * 60 * 1000)
  })

  it.each([
    ['of a later format', (key: string) => nodeRedis.set(`${key}format`, '5'), 'format 5'],
    [
      'of a format without a number',
      (key: string) => nodeRedis.hSet(`${key}{AbC}`, { fence: 1 }),
      'format 3 or earlier',
    ],
  ])('refuses a store %s by name, and writes nothing to it', async (_, prepare, name) => {
    const store = empty(nodeRedis)
    await prepare(`${prefix}:`)
    const before = await nodeRedis.keys(`${prefix}:*`)
    for (const use of [() => store.claim(request), () => store.read('s'), () => store.probe()])
      await expect(use()).rejects.toThrow(`it has ${name}, and this host reads format 4: drain the host`)
    expect(await nodeRedis.keys(`${prefix}:*`)).toEqual(before)
    await nodeRedis.del(before)
    expect(await store.claim(request)).toMatchObject({ state: 'claimed' })
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
