import { quote } from '../checks.ts'
import { inParallel } from '../clock.ts'
import { created, deleted } from '../events.ts'
import type { Random } from '../random.ts'
import { arranged, type Findings, type Scenario, type World } from '../run.ts'

const NAME = 'Shop'

export const orders: Scenario = {
  name: 'orders',
  shows: '500 random orders of creations, deletions and redeliveries at two hosts: nothing is left behind',
  run: ({ random, seeds }) =>
    arranged({ store: 'redis', hosts: 2, random }, (world) =>
      deliverOrders(world, { orders: seeds > 1 ? 500 : 50, random }),
    ),
}

export async function deliverOrders(
  world: World,
  { orders: count, random }: { orders: number; random: Random },
): Promise<Findings> {
  const { sender, platform, idp, journal } = world
  const violations: string[] = []
  const foreign = idp.addApplication({ name: NAME }).applicationId
  const before = new Set(idp.applications.keys())
  await inParallel(count, 4, async (number) => {
    const deployment = `dep_${number}`
    const drawn = random.fork(number)
    platform.addDeployment({ id: deployment })
    const deliveries = Array.from({ length: 6 }, () =>
      drawn.pick([
        created(deployment, NAME, `${deployment}_a`),
        created(deployment, NAME, `${deployment}_b`),
        deleted(deployment),
      ]),
    )
    const atOnce = drawn.below(2) === 0
    const pending = []
    for (const delivery of deliveries) {
      const response = sender.once(delivery)
      pending.push(response)
      if (!atOnce) await response
    }
    for (const received of await Promise.all(pending))
      if (received.status !== 200 && received.status !== 409)
        violations.push(`${deployment}: ${quote(received)}`)
    const last = await sender.untilFinal(deleted(deployment))
    if (last.body.status !== 'stopped') violations.push(`${deployment}: ${quote(last)}`)
    const late = await sender.untilFinal(created(deployment, NAME, `${deployment}_late`))
    if (late.body.status !== 'ignored') violations.push(`${deployment}: a late creation got ${quote(late)}`)
  })
  const left = [...idp.applications.keys()].filter((id) => !before.has(id))
  if (left.length > 0) violations.push(`${left.length} applications are left`)
  if (!idp.applications.has(foreign)) violations.push('the application of another owner is deleted')
  return {
    figures: {
      orders: count,
      deliveries: journal.of('response').length,
      created: journal.of('application created').length,
      deleted: journal.of('application deleted').length,
    },
    violations,
  }
}
