import { describeDeliveryStore } from '@org/core/testing'
import { createClient } from '@redis/client'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { hasRedis, type RedisServer, startRedis } from '../../../bench/chaos/redis.ts'
import { createFunctionStore } from '../src/stores/function-store.ts'

const request = { subject: 'mailer/delivery/evt_1', leaseMs: 60_000 }
const completion = {
  response: { status: 200, body: 'encrypted' },
  progress: {},
  keepMs: 1_000,
  keepResponseMs: 1_000,
}

describe.skipIf(!hasRedis)('the store of a function', () => {
  let redis: RedisServer
  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis.close())
  beforeEach(async () => {
    await ask('FLUSHALL')
    await cutAll()
  })

  /** Sends a command to Redis over a connection of its own. */
  async function ask(...command: string[]): Promise<string> {
    const client = createClient({ url: redis.url })
    await client.connect()
    return String(await client.sendCommand(command).finally(() => client.destroy()))
  }
  const connections = async () =>
    (await ask('CLIENT', 'LIST', 'TYPE', 'normal')).trim().split('\n').length - 1
  const cutAll = () => ask('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')

  async function claim(store = createFunctionStore(redis.url)) {
    const result = await store.claim(request)
    if (result.state !== 'claimed') throw new Error(`Expected a claim, got ${result.state}.`)
    return { store, lease: result.lease }
  }

  describeDeliveryStore({ describe, it, expect, beforeEach }, 'by a connection for each operation', (now) =>
    createFunctionStore(redis.url, { now }),
  )

  it('keeps no connection between two operations', async () => {
    const { lease, store } = await claim()
    expect(await createFunctionStore(redis.url).claim(request)).toMatchObject({ state: 'busy' })
    expect(await store.read(request.subject)).toMatchObject({ fence: lease.fence })
    await store.probe()
    expect(await connections()).toBe(0)
  })

  it('ends a claim over a new connection if the first attempt failed', async () => {
    const { store, lease } = await claim()
    await redis.kill()
    await expect(store.complete(lease, completion)).rejects.toThrow()
    await redis.start()
    expect(await store.complete(lease, completion)).toBe(true)
  })

  it('rejects when Redis is down or silent', async () => {
    const nowhere = createFunctionStore('redis://127.0.0.1:9')
    await expect(nowhere.claim(request)).rejects.toThrow('ECONNREFUSED')
    await expect(nowhere.probe()).rejects.toThrow('ECONNREFUSED')
    redis.pause()
    try {
      const silent = createFunctionStore(redis.url, { connectMs: 1 })
      await expect(silent.claim(request)).rejects.toThrow('Redis was not reached within 1 ms')
    } finally {
      redis.resume()
    }
    await expect.poll(connections).toBe(0)
  })
})
