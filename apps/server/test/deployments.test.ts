import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasRedis, type RedisServer, startRedis } from '../../../bench/chaos/redis.ts'
import { inProduction, targets } from '../../../bench/deployments/targets.ts'
import { walkThrough } from '../../../bench/deployments/walk.ts'
import { isNightly } from './nightly.ts'

// At the same time, because each mostly waits.
describe.concurrent('the walk of the sandbox', () => {
  let redis: RedisServer | undefined
  beforeAll(async () => {
    if (hasRedis) redis = await startRedis()
  })
  afterAll(() => redis?.close())

  const deployments = [
    ['node', 'sqlite:deliveries.db'],
    ['worker', '/0'],
    ['lambda', '/1'],
    ['vercel', '/2'],
  ] as const

  // The functions of Lambda and Vercel differ in the adapters alone, which functions.test.ts proves.
  it.each(deployments.slice(0, isNightly ? 4 : 2))(
    'passes through the bundle for %s',
    async (name, place) => {
      const onRedis = redis ? redis.url + place : 'memory:'
      const store = name === 'node' ? place : onRedis
      const { failed, passed, output } = await walkThrough((variables) =>
        targets[name](inProduction(variables, store)),
      )
      expect(failed, output).toBe(0)
      expect(passed).toBeGreaterThanOrEqual(40)
    },
  )
})
