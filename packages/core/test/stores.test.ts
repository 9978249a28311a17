/** The conformance suite on each store, and what only one store promises. */
import { execFile, spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { DatabaseSync } from 'node:sqlite'
import { promisify } from 'node:util'
import { type DeliveryStore, memoryStore } from '@org/core'
import { type RedisClient, redisStore } from '@org/core/stores/redis'
import { checkSqliteFile, type SqliteStoreOptions, sqliteStore } from '@org/core/stores/sqlite'
import { describeDeliveryStore } from '@org/core/testing'
import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'

const runner = { describe, it, expect, beforeEach }
const request = { subject: 's', delivery: { id: 'evt_1', digest: 'd' }, leaseMs: 60_000 }
const response = { status: 200, code: undefined, at: undefined, body: 'encrypted' }
const DAY_MS = 24 * 60 * 60 * 1000
const newFolder = () => mkdtempSync(join(tmpdir(), 'store-'))

/** Claims a subject and completes it at once. */
async function run(
  store: DeliveryStore,
  subject: string,
  { id = 'evt_1', body = 'encrypted', isLiving = false } = {},
) {
  const result = await store.claim({ ...request, subject, delivery: { id, digest: 'd' } })
  if (result.state !== 'claimed') throw new Error(result.state)
  const progress = isLiving ? { step: 'created' } : {}
  await store.complete(result.lease, { response: { ...response, body }, progress, isLiving })
}

describe('the memory', () => {
  describeDeliveryStore(runner, 'memory', (now) => memoryStore({ now }))

  it('drops the records that were written the longest ago when it is full', async () => {
    /** Room for two records. */
    const capacity = 900
    const store = memoryStore({ capacity })
    const kept = async (...subjects: string[]) => {
      const records = await Promise.all(subjects.map((subject) => store.read(subject)))
      return subjects.filter((_, at) => records[at])
    }
    for (const [at, subject] of ['a', 'b', 'a', 'c'].entries())
      await run(store, subject, { id: `evt_${at}`, isLiving: true })
    expect(await kept('a', 'b', 'c')).toEqual(['a', 'c'])
    await run(store, 'long', { body: 'x'.repeat(capacity) })
    await run(store, 'd')
    expect(await kept('a', 'c', 'long', 'd')).toEqual(['d'])
  })
})

describe('a file of SQLite', () => {
  /** In a folder that the store creates. */
  const newFile = () => join(newFolder(), 'nested', 'deliveries.db')

  function open(options: SqliteStoreOptions) {
    const store = sqliteStore(options)
    onTestFinished(store.close)
    return store
  }

  /** Opens the file as another process would. */
  function openAside(file: string): DatabaseSync {
    const database = new DatabaseSync(file)
    onTestFinished(() => database.close())
    return database
  }

  describeDeliveryStore(runner, 'SQLite', (now) => open({ file: newFile(), now }))

  it('may be read by nobody else, and keeps its records after its store is closed', async () => {
    const file = newFile()
    expect(await checkSqliteFile(file)).toBe(undefined)
    expect([statSync(file).mode & 0o777, readdirSync(dirname(file))]).toEqual([0o600, ['deliveries.db']])
    const store = open({ file })
    await run(store, 's')
    await store.close()
    await expect(store.claim(request)).rejects.toThrow('is closed')
    expect(await open({ file }).claim(request)).toEqual({ state: 'done', response, fence: 1 })
  })

  it('lets each event happen once for four processes that start at the same time without it', async () => {
    // One more than a transaction takes.
    const [file, events] = [newFile(), 201]
    const program = join(import.meta.dirname, 'sqlite-process.ts')
    const start = () =>
      promisify(execFile)(process.execPath, ['--conditions=@org/source', program, file, `${events}`])
    const outputs = await Promise.all([1, 2, 3, 4].map(start))
    const states: string[] = outputs.flatMap(({ stdout }) => JSON.parse(stdout))
    expect(states.filter((state) => state === 'completed')).toHaveLength(events)
    expect(states.filter((state) => /^(completed|busy|done)$/.test(state))).toHaveLength(4 * events)
  })

  it('is on the disk before the host goes on, also if the power fails', async () => {
    const program = join(import.meta.dirname, 'sqlite-process.ts')
    const onClose = `
      import { writeSync } from 'node:fs'
      import { DatabaseSync } from 'node:sqlite'
      const { close } = DatabaseSync.prototype
      DatabaseSync.prototype.close = function () {
        writeSync(2, JSON.stringify(this.prepare('PRAGMA synchronous').get()))
        close.call(this)
      }`
    const options = [
      '--conditions=@org/source',
      `--import=data:text/javascript,${encodeURIComponent(onClose)}`,
    ]
    const { stderr } = await promisify(execFile)(process.execPath, [...options, program, newFile(), '1'])
    // FULL: of the file while it is made, and of the store.
    expect(stderr.match(/"synchronous":\d/g)).toEqual(['"synchronous":2', '"synchronous":2'])
  })

  it('loses two expired records with each write', async () => {
    const file = newFile()
    let time = Date.now()
    const store = open({ file, now: () => time })
    for (const subject of ['a', 'b', 'c']) await run(store, subject)
    await run(store, 'living', { isLiving: true })
    time += 7 * DAY_MS + 3_600_000
    const records = openAside(file).prepare('SELECT key FROM records')
    const counts = [records.all().length]
    for (const subject of ['d', 'e']) {
      await store.claim({ ...request, subject })
      counts.push(records.all().length)
    }
    expect(counts).toEqual([4, 3, 3])
    expect(await store.read('living')).toMatchObject({ fence: 1 })
  })

  it('that another process has locked stops no other work, and fails with the cause until it is free', async () => {
    const file = newFile()
    const store = open({ file })
    await store.probe()
    const other = openAside(file)
    other.exec('BEGIN IMMEDIATE')
    let turns = 0
    const timer = setInterval(() => {
      turns += 1
    }, 1)
    const locked = `The store ${file} can’t be used: another process has locked it.`
    await expect(Promise.all([store.claim(request), store.probe()])).rejects.toThrow(locked)
    clearInterval(timer)
    expect([turns > 100, await checkSqliteFile(file)]).toEqual([true, locked])
    expect(await store.read('s')).toBe(undefined)
    other.exec('COMMIT')
    expect(await store.claim(request)).toMatchObject({ state: 'claimed' })
  })

  it.each<[string, string, (file: string) => void]>([
    ['is no database', 'file is not a database', (file) => writeFileSync(file, 'A text. '.repeat(99))],
    [
      'was written by another version',
      'it has format 99, and this host reads format 4: drain the host that wrote it',
      (file) => openAside(file).exec('PRAGMA user_version = 99; CREATE TABLE other (id INTEGER)'),
    ],
    ['is empty', 'it is empty, as after a copy that failed', (file) => writeFileSync(file, '')],
    ['is a folder', 'EISDIR', (file) => mkdirSync(file)],
  ])('that %s fails with the cause, until that is over', async (_, cause, spoil) => {
    const file = newFile()
    mkdirSync(dirname(file))
    spoil(file)
    const store = open({ file })
    const failure = `The store ${file} can’t be used: ${cause}`
    await expect(store.probe()).rejects.toThrow(failure)
    await expect(checkSqliteFile(file)).rejects.toThrow(failure)
    rmSync(dirname(file), { recursive: true })
    await store.probe()
  })

  it('that was removed or replaced under its store fails until it is back', async () => {
    const file = newFile()
    const store = open({ file })
    await store.probe()
    renameSync(file, `${file}.away`)
    for (const spoil of [() => {}, () => writeFileSync(file, '')]) {
      spoil()
      const failure = 'it was removed or replaced while it was open; restart the host'
      await expect(Promise.all([store.probe(), store.claim(request)])).rejects.toThrow(failure)
    }
    renameSync(`${file}.away`, file)
    await store.probe()
  })

  const disk = newFolder()
  const mount = () => spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'none', disk]).status === 0
  const unmount = () => spawnSync('umount', [disk]).status === 0
  const canMount = mount() && unmount()
  if (!canMount) process.stderr.write('SKIPPED: a full disk. Only root may mount one to test it.\n')

  it.skipIf(!canMount)(
    'on a full disk fails with the cause, leaves nothing there, and recovers',
    async () => {
      mount()
      onTestFinished(() => void unmount())
      const [file, filler] = [join(disk, 'deliveries.db'), join(disk, 'filler')]
      const fill = () => spawnSync('dd', ['if=/dev/zero', `of=${filler}`, 'bs=4096'])
      const full = /can’t be used: .*(disk is full|disk I\/O error|ENOSPC)/
      fill()
      expect(await checkSqliteFile(file)).toMatch(full)
      expect(readdirSync(disk)).toEqual(['filler'])
      rmSync(filler)
      const store = open({ file })
      await store.probe()
      fill()
      await expect.poll(() => store.probe().catch((error: Error) => error.message)).toMatch(full)
      await expect(store.claim(request)).rejects.toThrow(full)
      rmSync(filler)
      await store.probe()
      expect(await store.claim(request)).toMatchObject({ state: 'claimed' })
    },
  )
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
    return redisStore({ client, prefix: `${prefix}:`, timeoutMs: 60_000, ...(now ? { now } : {}) })
  }

  describeDeliveryStore(runner, 'Redis (node-redis)', (now) => empty(nodeRedis, now))
  describeDeliveryStore(runner, 'Redis (ioredis)', (now) => empty(ioredis, now))

  it('takes the time from Redis and not from its host, and lets each record expire after its time, which grows with no delivery', async () => {
    vi.spyOn(Date, 'now').mockReturnValueOnce(Date.now() + DAY_MS)
    const store = empty(nodeRedis)
    const keys = () => nodeRedis.keys(`${prefix}:4:*`)
    const days = async (key: string) => Math.ceil((await nodeRedis.pTTL(key)) / DAY_MS)
    const { state } = await store.claim(request)
    const busy = await store.claim(request)
    expect([state, busy.state === 'busy' && busy.retryAfterMs > 50_000]).toEqual(['claimed', true])
    const [claimed = ''] = await keys()
    expect(await days(claimed)).toBe(7)

    await run(store, 'deployment', { isLiving: true })
    const record = (await keys()).find((key) => key !== claimed) ?? ''
    const length = await nodeRedis.strLen(record)
    for (let at = 2; at <= 30; at += 1) await run(store, 'deployment', { id: `evt_${at}`, isLiving: true })
    expect(await nodeRedis.strLen(record)).toBeLessThan(length + 10)
    expect(await days(record)).toBeGreaterThan(36_000)
    const earlier = (await keys()).filter((key) => key !== record && key !== claimed)
    expect(await Promise.all(earlier.map(days))).toEqual(Array(29).fill(7))
  })

  it('fails within its time limit while Redis hangs, and no longer', async () => {
    const store = redisStore({ client: nodeRedis, prefix: 'late:', timeoutMs: 50 })
    server.kill('SIGSTOP')
    await expect(store.claim(request)).rejects.toThrow('did not answer within 50 ms')
    await expect(store.probe()).rejects.toThrow()
    server.kill('SIGCONT')
    await expect.poll(() => store.read('s').catch(String)).toBe(undefined)
  })
})
