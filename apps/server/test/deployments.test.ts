import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasRedis, type RedisServer, startRedis } from '../../../bench/chaos/redis.ts'
import { inProduction, targets } from '../../../bench/deployments/targets.ts'
import { walkThrough } from '../../../bench/deployments/walk.ts'

// At the same time, because each mostly waits.
describe.concurrent('the walk of the sandbox', () => {
  let redis: RedisServer | undefined
  beforeAll(async () => {
    if (hasRedis) redis = await startRedis()
  })
  afterAll(() => redis?.close())

  it.each([
    ['node', 'sqlite:deliveries.db'],
    ['lambda', '/0'],
    ['vercel', '/1'],
    ['worker', '/2'],
  ] as const)('passes through the bundle for %s', async (name, place) => {
    const onRedis = redis ? redis.url + place : 'memory:'
    const store = name === 'node' ? place : onRedis
    const { failed, passed, output } = await walkThrough((variables) =>
      targets[name](inProduction(variables, store)),
    )
    expect(failed, output).toBe(0)
    expect(passed).toBeGreaterThanOrEqual(40)
  })
})
