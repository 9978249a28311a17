import { checkPublished, quote, sentTwice, tally, timesSent } from '../checks.ts'
import { pause, startLoad, until } from '../clock.ts'
import { challenge, created, type Delivery, health, sendEmail } from '../events.ts'
import type { Random } from '../random.ts'
import { arranged, type Findings, type Scenario, type World } from '../run.ts'

const RECOVERY_MS = 20_000

export const redisOutage: Scenario = {
  name: 'redis-outage',
  shows:
    'Redis is killed, started again, and halted, under load: 503 for what has effects, and nothing twice',
  run: ({ random }) =>
    arranged({ store: 'redis', hosts: 2, random, leaseMs: 10_000 }, (world) =>
      outlastRedis(world, { random, perSecond: 40, outages: ['kill', 'pause', 'kill'], outageMs: 3_000 }),
    ),
}

interface OutageOptions {
  random: Random
  perSecond: number
  outages: readonly ('kill' | 'pause')[]
  outageMs: number
}

export async function outlastRedis(
  world: World,
  { random, perSecond, outages, outageMs }: OutageOptions,
): Promise<Findings> {
  const { sender, redis, platform, journal, idp } = world
  if (!redis) throw new Error('There is no Redis.')
  const violations: string[] = []
  const during: number[] = []
  const recoveries: number[] = []
  let isDown = false
  let backAt: number | undefined

  function drawDelivery(number: number): Delivery {
    const id = `evt_${number}`
    const kind = random.below(10)
    if (kind < 2) return challenge(id)
    if (kind === 2) return health(id)
    if (kind < 9) return sendEmail(id)
    platform.addDeployment({ id })
    return created(id, id)
  }

  const endLoad = startLoad(perSecond, async (number) => {
    const delivery = drawDelivery(number)
    const hasEffect = delivery.route !== 'auth'
    const wasDown = isDown
    const first = await sender.once(delivery)
    if (wasDown && isDown && hasEffect) during.push(first.status)
    if (!hasEffect && first.status !== 200) violations.push(`${delivery.id}: ${first.status}`)
    if (hasEffect && first.status === 200 && backAt !== undefined) {
      recoveries.push(performance.now() - backAt)
      backAt = undefined
    }
    return { delivery, response: first.status === 200 ? first : await sender.untilFinal(delivery) }
  })
  await pause(1_000)
  for (const outage of outages) {
    await (outage === 'kill' ? redis.kill() : redis.pause())
    isDown = true
    await pause(outageMs)
    isDown = false
    await (outage === 'kill' ? redis.start() : redis.resume())
    backAt = performance.now()
    await until(`an effect after ${outage}`, () => backAt === undefined, RECOVERY_MS).catch(
      ({ message }: Error) => violations.push(message),
    )
    await pause(500)
  }
  const ended = await endLoad()

  let unknown = 0
  for (const { delivery, response } of ended) {
    const { id, route } = delivery
    const sent = timesSent(world, id)
    if (response.body.code === 'outcome_unknown') unknown += 1
    else if (response.status !== 200) violations.push(`${id}: ${quote(response)}`)
    else if (route === 'mailer' && sent !== 1) violations.push(`${id}: status 200, and sent ${sent} times`)
    else if (route === 'idp-server') violations.push(...checkPublished(world, id.replace('_created', '')))
  }
  violations.push(...sentTwice(world))
  const made = idp.applications.size
  if (made !== platform.deployments.size)
    violations.push(`${made} applications for ${platform.deployments.size} deployments`)
  for (const status of during)
    if (status !== 503) violations.push(`a response without Redis had status ${status}`)
  return {
    figures: {
      events: ended.length,
      outages: outages.join(', '),
      'responses without Redis, with effects': tally(during, String),
      'first effect after its return, ms': recoveries.map(Math.round).join(', '),
      outcome_unknown: unknown,
      applications: made,
      mails: journal.of('mail accepted').length,
    },
    violations,
  }
}
