import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasRedis, type RedisServer, startRedis } from '../../../bench/chaos/redis.ts'
import { inProduction, targets } from '../../../bench/deployments/targets.ts'
import { quickWalks, walkThrough } from '../../../bench/deployments/walk.ts'

// Loud, so that nobody takes a run without Redis for a run with it.
if (!hasRedis)
  process.stderr.write('SKIPPED: deployments on Redis. Install the Debian package redis-server.\n')

describe('the walk of the sandbox', () => {
  it('passes through the bundle for Node on an SQLite file', async () => {
    const { failed, passed, output } = await walkThrough(
      (variables) => targets.node(inProduction(variables, 'sqlite:deliveries.db')),
      quickWalks,
    )
    expect(failed, output).toBe(0)
    expect(passed).toBeGreaterThan(40)
  })
})

// At the same time, because each mostly waits.
describe.skipIf(!hasRedis).concurrent('the walk of the sandbox, on Redis', () => {
  let redis: RedisServer
  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis.close())

  it.each([
    ['lambda', 0],
    ['vercel', 1],
    ['worker', 2],
  ] as const)('passes through the bundle for %s', async (name, database) => {
    const { failed, passed, output } = await walkThrough(
      (variables) => targets[name](inProduction(variables, `${redis.url}/${database}`)),
      quickWalks,
    )
    expect(failed, output).toBe(0)
    expect(passed).toBeGreaterThan(40)
  })
})
