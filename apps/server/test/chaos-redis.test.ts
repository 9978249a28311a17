import { describe, expect, it } from 'vitest'
import { createRandom } from '../../../bench/chaos/random.ts'
import { hasRedis } from '../../../bench/chaos/redis.ts'
import { arranged } from '../../../bench/chaos/run.ts'
import { floodWith } from '../../../bench/chaos/scenarios/duplicates.ts'
import { deliverOrders } from '../../../bench/chaos/scenarios/orders.ts'
import { HALTING_LEASE_MS, pauseEverywhere } from '../../../bench/chaos/scenarios/pause.ts'
import { outlastRedis } from '../../../bench/chaos/scenarios/redis-outage.ts'
import { restartInTurn } from '../../../bench/chaos/scenarios/rolling.ts'

const random = createRandom(1)

describe.skipIf(!hasRedis)('two hosts on one Redis', () => {
  it('create one application and send one mail for a hundred deliveries, and leave none behind in any order', async () => {
    await arranged({ store: 'redis', hosts: 2, random }, async (arrangement) => {
      const { figures, violations } = await floodWith(arrangement, { copies: 100, atATime: 25 })
      expect(violations).toEqual([])
      expect(figures).toMatchObject({ applications: 2, mails: 1 })
      // The same hosts, so that the suite does not wait for others to start.
      expect((await deliverOrders(arrangement, { orders: 20, random })).violations).toEqual([])
    })
  })

  it('make no late call after one is paused until its lease is over and the other takes over', async () => {
    await arranged(
      { store: 'redis', hosts: 2, firstLeaseMs: HALTING_LEASE_MS, settleMs: 500 },
      async (arrangement) => {
        const { figures, violations } = await pauseEverywhere(arrangement, {
          rounds: 1,
          creations: [{ at: 'store', number: 2, when: 'after' }],
          sends: [{ at: 'store', number: 2, when: 'after' }],
        })
        expect(violations).toEqual([])
        expect(figures).toMatchObject({ 'taken over': 2, 'late calls': 0 })
      },
    )
  })

  it('lose and repeat no mail while they are restarted in turn', async () => {
    await arranged({ store: 'redis', hosts: 2, random }, async (arrangement) => {
      const { violations } = await restartInTurn(arrangement, { restarts: 1, perSecond: 40 })
      expect(violations).toEqual([])
    })
  })

  it('refuse only effects while Redis is down, and repeat none', async () => {
    await arranged(
      { store: 'redis', hosts: 2, random, leaseMs: 10_000, settleMs: 500 },
      async (arrangement) => {
        const { violations } = await outlastRedis(arrangement, {
          random,
          perSecond: 30,
          outages: ['kill'],
          outageMs: 500,
        })
        expect(violations).toEqual([])
      },
    )
  })
})
