import { inParallel } from '../clock.ts'
import { created, deleted } from '../events.ts'
import type { Random } from '../random.ts'
import { type Arrangement, arranged, type Findings, type ScenarioOptions } from '../run.ts'

const NAME = 'Shop'

/** Creations, deletions and redeliveries of one deployment in any order, at two hosts. */
export const orders = {
  name: 'orders',
  shows: '500 random orders of creations, deletions and redeliveries at two hosts: nothing is left behind',
  run: ({ random, seeds }: ScenarioOptions) =>
    arranged({ store: 'redis', hosts: 2, random, leaseMs: 1_000, settleMs: 1_000 }, (arrangement) =>
      deliverOrders(arrangement, { orders: seeds > 1 ? 500 : 50, random }),
    ),
}

/** Delivers random orders, several deployments at a time. */
export async function deliverOrders(
  arrangement: Arrangement,
  { orders: count, random }: { orders: number; random: Random },
): Promise<Findings> {
  const { sender, platform, idp, journal } = arrangement
  const violations: string[] = []
  const foreign = idp.addApplication({ name: NAME }).applicationId
  const numbers = Array.from({ length: count }, (_, index) => index)
  await inParallel(numbers, 4, async (number) => {
    const deployment = `dep_${number}`
    const drawn = random.fork(number)
    platform.addDeployment({ id: deployment })
    const events = [
      created(deployment, NAME, `${deployment}_a`),
      created(deployment, NAME, `${deployment}_b`),
      deleted(deployment),
    ] as const
    const deliveries = Array.from({ length: 6 }, () => drawn.pick([...events]))
    const atOnce = drawn.below(2) === 0
    const answers = []
    for (const delivery of deliveries) {
      const answer = sender.once(delivery)
      answers.push(answer)
      if (!atOnce) await answer
    }
    for (const { status, body } of await Promise.all(answers)) {
      if (status !== 200 && status !== 409)
        violations.push(`${deployment}: ${status} ${JSON.stringify(body)}`)
    }
    const last = await sender.untilAnswered(deleted(deployment))
    if (last.body.status !== 'stopped') violations.push(`${deployment}: ${JSON.stringify(last.body)}`)
    const late = await sender.untilAnswered(created(deployment, NAME, `${deployment}_late`))
    if (late.body.status !== 'ignored')
      violations.push(`${deployment}: a late creation was ${JSON.stringify(late.body)}`)
  })
  const left = [...idp.applications.keys()].filter((id) => id !== foreign)
  if (left.length > 0) violations.push(`${left.length} applications are left`)
  if (!idp.applications.has(foreign)) violations.push('the application of somebody else is gone')
  const [made, gone] = [journal.of('application created').length, journal.of('application deleted').length]
  const figures = { orders: count, deliveries: journal.of('answer').length, created: made, deleted: gone }
  return { figures, violations }
}
