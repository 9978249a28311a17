/** The connections of hosts and functions to Redis, its faults and its settings. */
import { readFileSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import type { DeliveryStore } from '@org/core'
import { redisStore } from '@org/core/stores/redis'
import { afterAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { hasRedis, startRedis } from '../../../bench/chaos/redis.ts'
import { createFunctionStore } from '../src/stores/function-store.ts'
import { connectRedis, keepConnected } from '../src/stores/redis.ts'
import { calling, mail } from './hosted.ts'
import { portOf } from './raw-server.ts'
import { surround } from './surrounded.ts'

const request = { subject: 'mailer/delivery/evt_1', leaseMs: 60_000 }
const completion = { response: { status: 200, body: 'encrypted' }, progress: {}, isLiving: false }
const guide = readFileSync(new URL('../../../docs/scaling.md', import.meta.url), 'utf8')
/** The permissions of the guide, without the user and the password. */
const permissions = /^ *ACL SETUSER \S+ on \S+ (.+)$/m.exec(guide)?.[1]?.split(' ') ?? []

/** Uses the operations of a store. */
async function useStore(store: DeliveryStore): Promise<void> {
  for (const end of ['release', 'complete'] as const) {
    const claim = await store.claim(request)
    if (claim.state !== 'claimed') throw new Error(`Expected a claim, got ${claim.state}.`)
    const { lease } = claim
    await store.advance(lease, { step: 1 })
    await store.renew(lease, 60_000)
    expect(await store.read(request.subject)).toMatchObject({ fence: lease.fence })
    expect(await store[end](lease, completion)).toBe(true)
    await store.probe()
  }
}

describe.skipIf(!hasRedis)('on Redis', async () => {
  if (!hasRedis) return
  const redis = await startRedis()
  afterAll(() => redis.close())
  beforeEach(async () => {
    await redis.ask('FLUSHALL')
    await redis.ask('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
  })
  /** Creates a user with these permissions, and returns its URL. */
  async function allow(...rules: string[]): Promise<string> {
    await redis.ask('ACL', 'SETUSER', 'host', 'reset', 'on', '>word', ...rules)
    return redis.url.replace('//', '//host:word@')
  }
  /** A store over a connection that ends with the test. */
  async function open(url = redis.url) {
    const client = await connectRedis(url)
    onTestFinished(() => client.destroy())
    return redisStore({ client, timeoutMs: 60_000 })
  }
  /** Connects a host, and resolves with its log once it has settled. */
  async function logOf(url: string): Promise<string[]> {
    const lines: string[] = []
    const client = keepConnected(url, (level, message, data = {}) =>
      lines.push([level, message, ...Object.values(data)].join(' ')),
    )
    onTestFinished(client.close)
    await expect.poll(() => lines.length).toBeGreaterThan(0)
    await client.sendCommand(['PING']).catch(() => {})
    // The last question about the settings was sent before this one.
    await redis.ask('PING')
    return lines
  }

  it('a function has a connection for each operation, closes it, and fails when Redis is silent', async () => {
    // However slow the machine is, no time limit ends.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    await useStore(createFunctionStore(redis.url))
    // The one of the question.
    const connections = () => redis.ask('CLIENT', 'LIST', 'TYPE', 'normal')
    await expect.poll(async () => (await connections()).trim().split('\n')).toHaveLength(1)
    vi.useRealTimers()
    redis.pause()
    onTestFinished(redis.resume)
    const claim = createFunctionStore(redis.url).claim(request)
    await expect(claim).rejects.toThrow('Redis was not reached within 2000 ms')
  })

  it('a host works with the settings and the permissions of the guide, warns of nothing, and is not ready without one of them', async () => {
    const url = await allow(...permissions)
    expect(await logOf(url)).toEqual(['info The host reached Redis.'])
    await useStore(await open(url))
    const commands = permissions.flatMap((word) => /^\+(eval|get|getrange|set|time)$/.exec(word)?.[1] ?? [])
    expect(commands).toHaveLength(5)
    for (const command of commands) {
      const less = await open(await allow(...permissions, `-${command}`))
      await expect(less.probe(), command).rejects.toThrow(/permissions|can't run/)
    }
  })

  it.each([
    ['maxmemory-policy', 'allkeys-lru', 'noeviction', 'maxmemory_policy:noeviction'],
    ['appendonly', 'no', 'yes', 'aof_enabled:1'],
  ])('a host warns in one line if %s is %s', async (name, wrong, right, missing) => {
    await redis.ask('CONFIG', 'SET', name, wrong)
    const line = `warn Redis may lose records, and effects may be repeated: its INFO has no ${missing}.`
    expect(await logOf(redis.url)).toEqual([expect.stringContaining('info'), line])
    await redis.ask('CONFIG', 'SET', name, right)
  })

  it('a host is not ready before Redis is too full for an event', async () => {
    const store = await open()
    await store.probe()
    let limit = Number(/used_memory:(\d+)/.exec(await redis.ask('INFO', 'memory'))?.[1]) - 100_000
    /** Whether an event can be claimed with a little more memory. */
    async function claim(): Promise<string> {
      limit += 4_096
      await redis.ask('CONFIG', 'SET', 'maxmemory', String(limit))
      return store.claim(request).then(({ state }) => state, String)
    }
    await expect.poll(claim, { interval: 1 }).toBe('claimed')
    await expect(store.probe()).rejects.toThrow('OOM')
    await redis.ask('CONFIG', 'SET', 'maxmemory', '0')
    await store.probe()
    await expect.poll(() => redis.ask('KEYS', '*probe*')).toBe('')
  })

  it('a host tells a command that waits which server is silent', async () => {
    const client = keepConnected(redis.url, () => {})
    onTestFinished(client.close)
    await expect.poll(() => client.sendCommand(['PING']).catch(String)).toBe('PONG')
    redis.pause()
    onTestFinished(redis.resume)
    const reason = `not connected to Redis: The connection is silent. (${new URL(redis.url).host})`
    await expect(client.sendCommand(['PING'])).rejects.toThrow(reason)
  })

  it.each([
    ['a wrong password', () => redis.url.replace('//', '//nobody:word@'), 'WRONGPASS'],
    ['a database that is not there', () => `${redis.url}/99`, 'DB index is out of range'],
    ['no server', () => 'redis://127.0.0.1:1', 'connect ECONNREFUSED 127.0.0.1:1'],
    ['no such name', () => 'redis://redis.invalid', 'redis.invalid'],
  ])('a host says why it can’t reach Redis: %s', async (_, url, reason) => {
    expect((await logOf(url()))[0]).toContain(reason)
  })
})

/** Starts a proxy that can stop to forward, and closes nothing: a load balancer, or a container’s network. */
async function startProxy(target: () => string) {
  const pairs: { client: Socket; upstream: Socket }[] = []
  const server = createServer((client) => {
    const upstream = connect(Number(new URL(target()).port), '127.0.0.1')
    for (const socket of [client, upstream]) socket.on('error', () => {})
    pairs.push({ client, upstream })
    if (!proxy.isSilent) client.pipe(upstream).pipe(client)
  })
  const proxy = {
    url: `redis://127.0.0.1:${await portOf(server)}`,
    opened: () => pairs.length,
    /** Forwards no more replies on the connections that are open. */
    silence() {
      for (const { client, upstream } of pairs) upstream.unpipe(client).pause()
    },
    /** Whether it accepts connections, and forwards nothing on them. */
    isSilent: false,
    close() {
      for (const { client, upstream } of pairs) for (const end of [client, upstream]) end.destroy()
      server.close()
    },
  }
  return proxy
}

describe.skipIf(!hasRedis)('the bundled host with Redis behind a proxy', async () => {
  const { ship } = await surround()
  const servers = hasRedis ? await Promise.all([startRedis(), startRedis()]) : []
  let [primary] = servers
  const proxy = await startProxy(() => primary?.url ?? '')
  const host = ship({ environment: { DELIVERY_STORE: proxy.url } })
  afterAll(async () => {
    proxy.close()
    await Promise.all(servers.map((server) => server.close()))
  })

  const send = async (id?: string) => (await host.send('mailer', calling('sendEmail', mail), id)).status
  const works = (id?: string) => expect.poll(() => send(id)).toBe(200)

  it('connects anew when a connection is silent, an old one or a new one, and takes back a claim whose answer was lost', async () => {
    await works()
    const before = proxy.opened()
    proxy.silence()
    expect([await send(), proxy.opened()]).toEqual([200, before + 1])
    proxy.isSilent = true
    proxy.silence()
    expect(await send('evt_1')).toBe(503)
    await expect.poll(proxy.opened).toBe(before + 2)
    proxy.isSilent = false
    await works('evt_1')
  })

  it('ends if Redis has a store of another format, and names it', async () => {
    await primary?.ask('-n', '3', 'SET', 'deliveries:format', '3')
    const { exit, log } = ship({ environment: { DELIVERY_STORE: `${primary?.url}/3` } })
    expect(await exit).toBe(1)
    const message = expect.stringContaining('it has format 3, and this host reads format 4: drain the host')
    expect(log).toContainEqual(expect.objectContaining({ level: 'error', message }))
  })

  it('looks for the new primary when its own becomes a replica, and keeps its connection open', async () => {
    await works()
    const [demoted, promoted] = servers
    await demoted?.ask('REPLICAOF', '127.0.0.1', new URL(promoted?.url ?? '').port)
    primary = promoted
    await works()
  })
})
