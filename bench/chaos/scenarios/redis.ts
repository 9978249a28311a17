import { checkMessages, checkPublished, quote, sentTwice, tally } from '../checks.ts'
import { pause, startLoad, until } from '../clock.ts'
import { challenge, created, type Delivery, sendEmail, sendEmails } from '../events.ts'
import { arranged, type Findings, type Scenario, type World } from '../run.ts'

const OUTAGES = ['kill', 'pause', 'kill'] as const
const OUTAGE_MS = 3_000
const RECOVERY_MS = 20_000
const PER_SECOND = 40
const PEOPLE = 3

export const redisOutage: Scenario = {
  name: 'redis',
  shows:
    'Redis is killed, started again, and halted, under load: 503 for what has effects, and nothing twice',
  run: () => arranged({ store: 'redis', hosts: 2, leaseMs: 10_000 }, outlastRedis),
}

async function outlastRedis(world: World): Promise<Findings> {
  const { sender, redis, platform, journal, idp } = world
  if (!redis) throw new Error('There is no Redis.')
  const violations: string[] = []
  const during: number[] = []
  const recoveries: number[] = []
  /** The number of the outage that lasts. */
  let outage: number | undefined
  let backAt: number | undefined

  function makeDelivery(number: number): Delivery {
    const id = `evt_${number}`
    const kind = number % 10
    if (kind < 2) return challenge(id)
    if (kind === 2) return sendEmails(id, PEOPLE)
    if (kind < 9) return sendEmail(id)
    platform.addDeployment({ id })
    return created(id, id)
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
  const ended = await endLoad()

  let unknown = 0
  for (const { delivery, response } of ended) {
    const { id, route } = delivery
    if (response.body.code === 'outcome_unknown') unknown += 1
    else if (response.status !== 200) violations.push(`${id}: ${quote(response)}`)
    else if (route === 'mailer')
      for (const { violation } of checkMessages(world, id, response.body))
        violations.push(...(violation ? [`${id}: ${violation}`] : []))
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
      outages: OUTAGES.join(', '),
      'responses without Redis, with effects': tally(during, String),
      'first effect after its return, ms': recoveries.map(Math.round).join(', '),
      outcome_unknown: unknown,
      applications: made,
      mails: journal.timesSent.size,
    },
    violations,
  }
}
