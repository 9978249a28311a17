import { pause, startLoad, until } from '../../shared/clock.ts'
import { checkLoad, type Findings, tally } from '../checks.ts'
import { challenge, created, type Delivery, sendEmail, sendEmails } from '../events.ts'
import type { Scenario } from '../scenario.ts'
import { arranged, type World } from '../world.ts'

const OUTAGES = ['kill', 'pause', 'kill'] as const
const OUTAGE_MS = 3_000
const RECOVERY_MS = 20_000
const PER_SECOND = 40

/** Two hosts with the same short lease. */
const hosts = [{ CHAOS_LEASE_MS: '10000' }, { CHAOS_LEASE_MS: '10000' }]

export const redisOutage: Scenario = {
  name: 'redis',
  shows:
    'Redis is killed, started again, and halted, under load: 503 for what has effects, and nothing twice',
  atATime: 1,
  cases: () => ({
    'two hosts': (found) => arranged({ store: 'redis', hosts }, (world) => outlastRedis(world, found)),
  }),
}

async function outlastRedis(world: World, found: Findings): Promise<void> {
  const { sender, redis, platform } = world
  if (!redis) throw new Error('There is no Redis.')
  const { violations, figures } = found
  const during: number[] = []
  const recoveries: number[] = []
  /** The number of the outage that lasts. */
  let outage: number | undefined
  let backAt: number | undefined

  function makeDelivery(number: number): Delivery {
    const id = `evt_${number}`
    const kind = number % 10
    if (kind < 2) return challenge(id)
    if (kind === 2) return sendEmails(id, 3)
    if (kind < 9) return sendEmail(id)
    platform.addDeployment({ id })
    return created(id)
  }

  const endLoad = startLoad(PER_SECOND, async (number) => {
    const delivery = makeDelivery(number)
    const hasEffect = delivery.route !== 'auth'
    const before = outage
    const first = await sender.once(delivery)
    // Only a response to a request of the same outage: Redis was away all the time between.
    if (before !== undefined && before === outage && hasEffect) during.push(first.status)
    if (!hasEffect && first.status !== 200) violations.push(`${delivery.id}: ${first.status}`)
    if (hasEffect && first.status === 200 && backAt !== undefined) {
      recoveries.push(performance.now() - backAt)
      backAt = undefined
    }
    return { delivery, response: first.status === 200 ? first : await sender.untilFinal(delivery) }
  })
  await pause(1_000)
  for (const [number, kind] of OUTAGES.entries()) {
    await (kind === 'kill' ? redis.kill() : redis.pause())
    outage = number
    await pause(OUTAGE_MS)
    outage = undefined
    await (kind === 'kill' ? redis.start() : redis.resume())
    backAt = performance.now()
    await until(`an effect after ${kind}`, () => backAt === undefined, RECOVERY_MS).catch(
      ({ message }: Error) => violations.push(message),
    )
    await pause(500)
  }
  checkLoad(world, found, await endLoad())
  for (const status of during)
    if (status !== 503) violations.push(`a response without Redis had status ${status}`)
  figures['responses without Redis, with effects'] = tally(during, String)
  figures['first effect after its return, ms'] = recoveries.map(Math.round).join(', ')
}
