/** The warnings of a host about its Redis: settings that can lose a record, and why it can’t be reached. */
import { readFileSync } from 'node:fs'
import type { Logger } from '@org/core'
import { redisStore } from '@org/core/stores/redis'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { hasRedis, type RedisServer, startRedis } from '../../../bench/chaos/redis.ts'
import { connectRedis, keepConnected } from '../src/stores/redis.ts'

const guide = readFileSync(new URL('../../../docs/scaling.md', import.meta.url), 'utf8')
/** The permissions of the guide, without the user and the password. */
const permissions = /^ *ACL SETUSER \S+ on \S+ (.+)$/m.exec(guide)?.[1]?.split(' ') ?? []

describe.skipIf(!hasRedis)('a host on its Redis', () => {
  let redis: RedisServer
  const hosts: { close(): void }[] = []
  beforeAll(async () => {
    redis = await startRedis()
  })
  afterEach(() => {
    for (const host of hosts.splice(0)) host.close()
  })
  afterAll(() => redis.close())

  /** Connects a host, and resolves with its log once it has settled. */
  async function logOf(url: string): Promise<string[]> {
    const lines: string[] = []
    const log: Logger = (level, message, data = {}) =>
      void lines.push([level, message, ...Object.values(data)].join(' '))
    const client = keepConnected(url, log)
    hosts.push(client)
    await expect.poll(() => lines.length).toBeGreaterThan(0)
    await client.sendCommand(['PING']).catch(() => {})
    return lines
  }
  const warnings = async (url = redis.url) => {
    const lines = await logOf(url)
    // The last question about the settings was sent before this one.
    await redis.ask('PING')
    return lines.filter((line) => line.startsWith('warn'))
  }
  const as = (user: string) => redis.url.replace('//', `//${user}:word@`)

  it('has nothing to say about the settings of the guide', async () => {
    expect(await warnings()).toEqual([])
  })

  it.each([
    ['maxmemory-policy', 'allkeys-lru', 'noeviction', 'maxmemory_policy:noeviction'],
    ['appendonly', 'no', 'yes', 'aof_enabled:1'],
  ])('warns in one line if %s is %s', async (name, wrong, right, missing) => {
    await redis.ask('CONFIG', 'SET', name, wrong)
    const line = `warn Redis may lose records, and effects may be repeated: its INFO has no ${missing}.`
    expect(await warnings()).toEqual([line])
    await redis.ask('CONFIG', 'SET', name, right)
  })

  it('works with the permissions of the guide, and has nothing to say about them', async () => {
    await redis.ask('ACL', 'SETUSER', 'host', 'on', '>word', ...permissions)
    expect(await warnings(as('host'))).toEqual([])
    const connection = await connectRedis(as('host'))
    const store = redisStore({ client: connection })
    const delivery = { id: 'evt_1', digest: 'd' }
    for (const id of ['evt_1', 'evt_2', 'evt_3']) {
      const request = { subject: 'idp/deployment/dep_1', delivery: { ...delivery, id }, leaseMs: 60_000 }
      const result = await store.claim(request)
      if (result.state !== 'claimed') throw new Error(result.state)
      await store.advance(result.lease, { step: 1 })
      await store.renew(result.lease, 60_000)
      const kept = { keepMs: 60_000, keepResponseMs: 60_000 }
      const response = { status: 200, body: 'encrypted' }
      if (id === 'evt_3') expect(await store.release(result.lease)).toBe(true)
      else expect(await store.complete(result.lease, { response, progress: { step: 2 }, ...kept })).toBe(true)
    }
    await store.probe()
    expect(await store.read('idp/deployment/dep_1')).toMatchObject({ progress: { step: 1 } })
    connection.destroy()
  })

  it.each(permissions.flatMap((word) => /^\+(eval|get|getrange|set|time)$/.exec(word)?.[1] ?? []))(
    'is not ready without the permission for %s',
    async (command) => {
      await redis.ask('ACL', 'SETUSER', 'less', 'reset', 'on', '>word', ...permissions, `-${command}`)
      const connection = await connectRedis(as('less'))
      await expect(redisStore({ client: connection }).probe()).rejects.toThrow(/permissions|can't run/)
      connection.destroy()
    },
  )

  it('is not ready before Redis is too full for an event', async () => {
    const connection = await connectRedis(redis.url)
    const store = redisStore({ client: connection })
    await store.probe()
    const used = /used_memory:(\d+)/.exec(String(await connection.sendCommand(['INFO', 'memory'])))?.[1]
    await redis.ask('CONFIG', 'SET', 'maxmemory', String(Number(used) + 40_000))
    await expect(store.probe()).rejects.toThrow('OOM')
    expect(await store.claim({ subject: 's', leaseMs: 1_000 })).toMatchObject({ state: 'claimed' })
    await redis.ask('CONFIG', 'SET', 'maxmemory', '0')
    await store.probe()
    await expect.poll(async () => String(await connection.sendCommand(['KEYS', '*probe*']))).toBe('')
    connection.destroy()
  })

  it.each([
    ['a wrong password', () => as('nobody'), 'WRONGPASS'],
    ['a database that is not there', () => `${redis.url}/99`, 'DB index is out of range'],
    ['no TLS', () => redis.url.replace('redis:', 'rediss:'), 'not reached within 2000 ms'],
    ['no server', () => 'redis://127.0.0.1:1', 'connect ECONNREFUSED 127.0.0.1:1'],
    ['no such name', () => 'redis://redis.invalid', 'redis.invalid'],
  ])('says why it can’t reach Redis: %s', async (_, url, reason) => {
    expect((await logOf(url()))[0]).toContain(reason)
  })
})
