/**
 * A Redis that the bundled host reaches through a proxy, as behind a load balancer or a container’s network.
 */
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { deliver } from '@org/core/testing'
import { createClient } from '@redis/client'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { hasRedis, type RedisServer, startRedis } from '../../../bench/chaos/redis.ts'
import { secret, startSurroundings } from './deployed.ts'
import { calling, mail } from './hosted.ts'
import { type Shipped, startShipped } from './shipped.ts'

// Loud, so that nobody takes a run without Redis for a run with it.
if (!hasRedis)
  process.stderr.write('SKIPPED: the bundled host with Redis. Install the Debian package redis-server.\n')

/** Starts a proxy that can stop to forward, and closes nothing. */
async function startProxy(target: () => string) {
  const connections: { client: Socket; upstream: Socket }[] = []
  let isSilent = false
  const server = createServer((client) => {
    const upstream = connect(Number(new URL(target()).port), '127.0.0.1')
    for (const socket of [client, upstream]) socket.on('error', () => {})
    connections.push({ client, upstream })
    if (!isSilent) client.pipe(upstream).pipe(client)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  return {
    url: `redis://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`,
    opened: () => connections.length,
    /** Stops to forward on the connections that are open. */
    silence(what: 'everything' | 'replies'): void {
      for (const { client, upstream } of connections) {
        upstream.unpipe(client).pause()
        if (what === 'everything') client.unpipe(upstream).pause()
      }
    },
    /** Accepts connections, and forwards nothing on them. */
    silenceNew(silent: boolean): void {
      isSilent = silent
    },
    close() {
      for (const { client, upstream } of connections) for (const end of [client, upstream]) end.destroy()
      server.close()
    },
  }
}

describe.skipIf(!hasRedis)('the bundled host with Redis behind a proxy', () => {
  const servers: RedisServer[] = []
  let primary: RedisServer
  let around: Awaited<ReturnType<typeof startSurroundings>>
  let proxy: Awaited<ReturnType<typeof startProxy>>
  let host: Shipped

  beforeAll(async () => {
    servers.push(await startRedis(), await startRedis())
    const [first] = servers
    if (first) primary = first
    around = await startSurroundings()
    proxy = await startProxy(() => primary.url)
    host = startShipped({ environment: { ...around.variables, DELIVERY_STORE: proxy.url } })
    await host.url
  })
  afterAll(async () => {
    host.kill('SIGKILL')
    await host.exit
    proxy.close()
    await around.close()
    for (const server of servers) await server.close()
  })

  const send = async (id: string = crypto.randomUUID()) => {
    const url = `${await host.url}/mailer/webhook`
    return (await deliver(fetch, calling('sendEmail', mail), { id, secret, url })).status
  }
  const works = (id?: string) => expect.poll(() => send(id)).toBe(200)

  it.each(['everything', 'replies'] as const)(
    'connects anew when its connection forwards no more of %s, and stays open',
    async (what) => {
      await works()
      const before = proxy.opened()
      proxy.silence(what)
      expect(await send()).toBe(200)
      expect(proxy.opened()).toBe(before + 1)
    },
    15_000,
  )

  it('gives up a new connection without an answer, too, and takes back a claim whose answer was lost', async () => {
    await works()
    const before = proxy.opened()
    proxy.silenceNew(true)
    proxy.silence('replies')
    expect(await send('evt_1')).toBe(503)
    await expect.poll(proxy.opened).toBe(before + 1)
    proxy.silenceNew(false)
    await works('evt_1')
  })

  it('is not ready while its user may not run a script, and says why once, and once that it works', async () => {
    await primary.ask('ACL', 'SETUSER', 'mute', 'on', '>word', '~*', '+@all', '-eval')
    const DELIVERY_STORE = primary.url.replace('//', '//mute:word@')
    const other = startShipped({ environment: { ...around.variables, DELIVERY_STORE } })
    onTestFinished(() => other.kill('SIGKILL'))
    const ready = async () => (await fetch(`${await other.url}/readyz`)).status
    const said = (text: string) =>
      other.log
        .filter(({ message, reason }) => `${message} ${reason}`.includes(text))
        .map(({ level }) => level)
    await expect.poll(() => said('reached Redis').length).toBe(1)
    expect(await ready()).toBe(503)
    await expect.poll(() => said('no permissions to run')).toEqual(['error'])
    await primary.ask('ACL', 'SETUSER', 'mute', '+eval')
    await expect.poll(ready).toBe(200)
    await expect.poll(() => said('takes writes again')).toEqual(['info'])
  })

  it('ends if Redis has a store of another format, and names it', async () => {
    await primary.ask('-n', '3', 'SET', 'deliveries:format', '3')
    const environment = { ...around.variables, DELIVERY_STORE: `${primary.url}/3` }
    const other = startShipped({ environment })
    expect(await other.exit).toBe(1)
    const message = expect.stringContaining('it has format 3, and this host reads format 4: drain the host')
    expect(other.log).toContainEqual(expect.objectContaining({ level: 'error', message }))
  })

  it('looks for the new primary when its own becomes a replica, and keeps its connection open', async () => {
    await works()
    const [demoted, promoted] = servers
    if (!demoted || !promoted) throw new Error('Two servers were started.')
    const client = createClient({ url: demoted.url })
    await client.connect()
    await client.sendCommand(['REPLICAOF', '127.0.0.1', new URL(promoted.url).port])
    client.destroy()
    primary = promoted
    await works()
  })
})
