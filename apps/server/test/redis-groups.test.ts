/** Redis as a cluster and behind sentinels, with servers that die. */
import { redisStore } from '@org/core/stores/redis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasRedis } from '../../../bench/chaos/redis.ts'
import { type RedisGroup, startRedisCluster, startRedisSentinels } from '../../../bench/chaos/redis-groups.ts'
import { createFunctionStore } from '../src/stores/function-store.ts'
import { keepConnected } from '../src/stores/redis.ts'

/** The last test of a group kills one of its servers. */
const inTurn = { concurrent: false }

// At the same time, because each mostly waits for its servers to agree.
describe.skipIf(!hasRedis).concurrent.each([
  ['a cluster', () => startRedisCluster({ replicas: 1 })],
  ['a primary that sentinels know', startRedisSentinels],
])('on %s,', (_, start) => {
  let group: RedisGroup
  beforeAll(async () => {
    group = await start()
  })
  afterAll(() => group.close())

  it('a function claims, records its steps, and replays the answer to each delivery', inTurn, async () => {
    const store = createFunctionStore(group.url)
    const response = { status: 200, body: 'encrypted' }
    const deliver = async (id: string) => {
      const delivery = { id, digest: 'd' }
      const result = await store.claim({ subject: 'idp-server/deployment/dep_1', delivery, leaseMs: 60_000 })
      if (result.state !== 'claimed') return result
      await store.advance(result.lease, { application: 'app_1' })
      const kept = { keepMs: 60_000, keepResponseMs: 60_000 }
      await store.complete(result.lease, { response, progress: { application: 'app_1' }, ...kept })
      return result.progress
    }
    expect([await deliver('evt_1'), await deliver('evt_2')]).toEqual([{}, { application: 'app_1' }])
    expect(await deliver('evt_1')).toMatchObject({ state: 'done', response })
    expect(await deliver('evt_2')).toMatchObject({ state: 'done', response })
  })

  it(
    'a host finds the server that takes over when one dies, and has what the dead one had',
    inTurn,
    async () => {
      const client = keepConnected(group.url, () => {})
      const store = redisStore({ client })
      // Enough for each server of a cluster to have some.
      const subjects = Array.from({ length: 20 }, (_, at) => `mailer/delivery/evt_${at}`)
      const claimAll = (owner: string) =>
        Promise.all(subjects.map((subject) => store.claim({ subject, owner, leaseMs: 60_000 })))
      await expect.poll(() => claimAll('first').catch(() => [])).toHaveLength(20)
      await group.settle()
      await group.killOne()
      await expect(store.probe()).rejects.toThrow()
      await group.promote()
      const states = () => claimAll('second').then((results) => results.map(({ state }) => state), String)
      await expect.poll(states).toEqual(subjects.map(() => 'busy'))
      await store.probe()
      for (const server of group.servers) {
        const role = await server.ask('ROLE').catch(() => 'dead')
        if (!role.startsWith('master')) continue
        await server.ask('CONFIG', 'SET', 'maxmemory', '1')
        await expect(store.probe()).rejects.toThrow('OOM')
        await server.ask('CONFIG', 'SET', 'maxmemory', '0')
      }
      await store.probe()
      client.close()
    },
  )
})
