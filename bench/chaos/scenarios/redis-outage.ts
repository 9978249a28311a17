import { checkPublished, sentTwice, tally, timesSent } from '../checks.ts'
import { pause, until } from '../clock.ts'
import { addressOf, challenge, created, health, sendEmail } from '../events.ts'
import type { Random } from '../random.ts'
import { type Arrangement, arranged, type Findings, type ScenarioOptions } from '../run.ts'
import type { Answer, Delivery } from '../sender.ts'

/** How long it may take until effects happen again, once it is back. */
const RECOVERY_MS = 5_000

/** A store that dies, and comes back. */
export const redisOutage = {
  name: 'redis-outage',
  shows:
    'Redis is killed, started again, and halted, under load: 503 for what has effects, and nothing twice',
  run: ({ random }: ScenarioOptions) =>
    arranged({ store: 'redis', hosts: 2, random, leaseMs: 3_000, settleMs: 1_000 }, (arrangement) =>
      outlastRedis(arrangement, {
        random,
        perSecond: 40,
        outages: ['kill', 'pause', 'kill'],
        outageMs: 3_000,
      }),
    ),
}

interface OutageOptions {
  random: Random
  perSecond: number
  outages: readonly ('kill' | 'pause')[]
  outageMs: number
}

/** Keeps a load up while Redis goes away and comes back. */
export async function outlastRedis(
  arrangement: Arrangement,
  { random, perSecond, outages, outageMs }: OutageOptions,
): Promise<Findings> {
  const { sender, redis, platform } = arrangement
  if (!redis) throw new Error('There is no Redis.')
  const violations: string[] = []
  const finals: Promise<{ delivery: Delivery; answer: Answer }>[] = []
  const during: Answer[] = []
  const recoveries: number[] = []
  let isDown = false
  let backAt: number | undefined
  let loading = true

  async function deliverToTheEnd(delivery: Delivery): Promise<{ delivery: Delivery; answer: Answer }> {
    const wasDown = isDown
    const first = await sender.once(delivery)
    const hasEffect = delivery.route !== 'auth'
    if (wasDown && isDown && hasEffect) during.push(first)
    if (!hasEffect && first.status !== 200) violations.push(`${delivery.id}: ${first.status}`)
    if (hasEffect && first.status === 200 && !isDown && backAt !== undefined) {
      recoveries.push(performance.now() - backAt)
      backAt = undefined
    }
    const answer = first.status === 200 ? first : await sender.untilAnswered(delivery)
    return { delivery, answer }
  }

  async function load(): Promise<void> {
    for (let number = 0; loading; number += 1) {
      const id = `evt_${number}`
      const kind = random.below(10)
      if (kind === 9) platform.addDeployment({ id })
      const delivery =
        kind < 2 ? challenge(id) : kind === 2 ? health(id) : kind === 9 ? created(id, id) : sendEmail(id)
      finals.push(deliverToTheEnd(delivery))
      await pause(1000 / perSecond)
    }
  }

  const loaded = load()
  await pause(1_000)
  for (const outage of outages) {
    isDown = true
    if (outage === 'kill') await redis.kill()
    else redis.pause()
    await pause(outageMs)
    if (outage === 'kill') await redis.start()
    else redis.resume()
    isDown = false
    backAt = performance.now()
    await until(
      `${outage}: something with an effect succeeds`,
      () => backAt === undefined,
      RECOVERY_MS,
    ).catch((error: Error) => violations.push(error.message))
    await pause(500)
  }
  loading = false
  await loaded

  let unknown = 0
  const answered = await Promise.all(finals)
  const times = timesSent(arrangement)
  for (const { delivery, answer } of answered) {
    const { id, route } = delivery
    if (answer.body.code === 'outcome_unknown') unknown += 1
    else if (answer.status !== 200) violations.push(`${id}: ${answer.status} ${JSON.stringify(answer.body)}`)
    else if (route === 'mailer' && times.get(addressOf(id)) !== 1)
      violations.push(`${id}: answered 200, and sent ${times.get(addressOf(id)) ?? 0} times`)
    else if (route === 'idp-server')
      violations.push(...checkPublished(arrangement, id.replace('_created', '')))
  }
  violations.push(...sentTwice(arrangement))
  const made = arrangement.idp.applications.size
  if (made !== platform.deployments.size)
    violations.push(`${made} applications for ${platform.deployments.size} deployments`)
  for (const { status } of during)
    if (status !== 503) violations.push(`while Redis was away an answer was ${status}`)
  return {
    figures: {
      events: finals.length,
      outages: outages.join(', '),
      'answers with effects while it was away': tally(during, ({ status }) => status),
      'first success after its return, ms': recoveries.map(Math.round).join(', '),
      outcome_unknown: unknown,
      applications: made,
      mails: arrangement.journal.of('mail accepted').length,
    },
    violations,
  }
}
