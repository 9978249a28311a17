import { checkPublished } from '../checks.ts'
import { created, deleted } from '../events.ts'
import { type CrashOptions, countSteps, deliverAndKill, nameOf, pointsOf } from '../kill-points.ts'
import { type Findings, onBothStores, type Scenario, type World } from '../run.ts'

const NAME = 'Shop'

export const crashProvisioning: Scenario = {
  name: 'crash-provisioning',
  shows: 'kill -9 at every step of a creation and of a deletion: one application, then none',
  run: (options) =>
    onBothStores(options.random, (world, random) => crashEverywhere(world, { ...options, random })),
}

export async function crashEverywhere(
  world: World,
  { seeds, random, say, ...options }: CrashOptions,
): Promise<Findings> {
  const { platform, idp, journal, sender } = world
  // An application of the same name, of another owner, which must stay.
  const foreign = idp.addApplication({ name: NAME }).applicationId
  const violations: string[] = []

  platform.addDeployment({ id: 'dep_first' })
  const creation = await countSteps(world, created('dep_first', NAME))
  const deletion = await countSteps(world, deleted('dep_first'))
  const creations = options.points ?? pointsOf(creation, seeds, random)
  const deletions = options.points ? [] : pointsOf(deletion, seeds, random)
  const figures = {
    'steps of a creation': creation.text,
    'steps of a deletion': deletion.text,
    'crashes of a creation': 0,
    'crashes of a deletion': 0,
  }

  for (const [number, point] of [...creations, ...deletions].entries()) {
    const deployment = `dep_${number}`
    const inDeletion = number >= creations.length
    const at = `${deployment}, ${inDeletion ? 'deletion' : 'creation'} killed ${nameOf(point)}`
    platform.addDeployment({ id: deployment })
    const before = journal.of('application created').length
    if (!inDeletion && (await deliverAndKill(world, created(deployment, NAME), point)))
      figures['crashes of a creation'] += 1
    const response = await sender.untilFinal(created(deployment, NAME))
    if (response.status !== 200) violations.push(`${at}: ${JSON.stringify(response.body)}`)
    const made = journal.of('application created').length - before
    if (made !== 1) violations.push(`${at}: ${made} applications were made`)
    violations.push(...checkPublished(world, deployment).map((fault) => `${at}: ${fault}`))

    if (inDeletion && (await deliverAndKill(world, deleted(deployment), point)))
      figures['crashes of a deletion'] += 1
    const last = await sender.untilFinal(deleted(deployment))
    if (last.body.status !== 'stopped') violations.push(`${at}: deleted with ${JSON.stringify(last.body)}`)
    const left = [...idp.applications.keys()]
    if (left.join() !== foreign) violations.push(`${at}: the applications ${left.join()} are left`)
    if (number % 100 === 99) say(`${number + 1} crashes, ${violations.length} violations`)
  }
  return { figures, violations }
}
