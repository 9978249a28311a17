import { checkPublished } from '../checks.ts'
import { created, deleted } from '../events.ts'
import { countSteps, deliverAndKill, type KillPoint, nameOf, pointsOf } from '../kill-points.ts'
import { type Arrangement, arranged, type Findings, type ScenarioOptions } from '../run.ts'

const NAME = 'Shop'

/** A host that is killed at every step of a creation, and of a deletion. */
export const crashProvisioning = {
  name: 'crash-provisioning',
  shows: 'kill -9 at every step of a creation and of a deletion: one application, then none',
  async run({ random, seeds, say }: ScenarioOptions): Promise<Findings> {
    const figures: Findings['figures'] = {}
    const violations: string[] = []
    const runs = (['sqlite', 'redis'] as const).map((store) =>
      arranged(
        { store, hosts: 1, random: random.fork(store), leaseMs: 1_000, settleMs: 1_000 },
        async (arrangement) => {
          const found = await crashEverywhere(arrangement, { seeds, random: random.fork(store), say })
          violations.push(...found.violations.map((violation) => `${store}: ${violation}`))
          for (const [what, figure] of Object.entries(found.figures)) figures[`${store} ${what}`] = figure
        },
      ),
    )
    await Promise.all(runs)
    return { figures, violations }
  },
}

type CrashOptions = Pick<ScenarioOptions, 'seeds' | 'random' | 'say'> & { points?: readonly KillPoint[] }

/** Kills the host of an arrangement at every step, and looks at what is left each time. */
export async function crashEverywhere(
  arrangement: Arrangement,
  { seeds, random, say, ...options }: CrashOptions,
): Promise<Findings> {
  const { platform, idp, journal, sender, hosts } = arrangement
  const [host] = hosts
  if (!host) throw new Error('There is no host.')
  // Somebody else's application of the same name, which nobody may touch.
  const foreign = idp.addApplication({ name: NAME }).applicationId
  const violations: string[] = []

  platform.addDeployment({ id: 'dep_first' })
  const creation = await countSteps(arrangement, created('dep_first', NAME))
  const deletion = await countSteps(arrangement, deleted('dep_first'))
  const creations = options.points ?? pointsOf(creation, seeds, random)
  const deletions = options.points ? [] : pointsOf(deletion, seeds, random)
  const figures = {
    'steps of a creation': `${creation.writes} writes, ${creation.calls} calls`,
    'steps of a deletion': `${deletion.writes} writes, ${deletion.calls} calls`,
    'crashes of a creation': 0,
    'crashes of a deletion': 0,
  }

  for (const [number, point] of [...creations, ...deletions].entries()) {
    const deployment = `dep_${number}`
    const inDeletion = number >= creations.length
    const at = `${deployment}, ${inDeletion ? 'deletion' : 'creation'} killed ${nameOf(point)}`
    platform.addDeployment({ id: deployment })
    const before = journal.of('application created').length
    if (!inDeletion) {
      const died = await deliverAndKill(arrangement, host, created(deployment, NAME), point)
      if (died) figures['crashes of a creation'] += 1
    }
    const answer = await sender.untilAnswered(created(deployment, NAME))
    if (answer.status !== 200) violations.push(`${at}: ${JSON.stringify(answer.body)}`)
    const made = journal.of('application created').length - before
    if (made !== 1) violations.push(`${at}: ${made} applications were made`)
    violations.push(...checkPublished(arrangement, deployment).map((fault) => `${at}: ${fault}`))

    if (inDeletion) {
      const died = await deliverAndKill(arrangement, host, deleted(deployment), point)
      if (died) figures['crashes of a deletion'] += 1
    }
    const last = await sender.untilAnswered(deleted(deployment))
    if (last.body.status !== 'stopped') violations.push(`${at}: deleted with ${JSON.stringify(last.body)}`)
    const left = [...idp.applications.keys()]
    if (left.join() !== foreign) violations.push(`${at}: ${left.length - 1} applications are left`)
    if (number % 100 === 99) say(`${number + 1} crashes, ${violations.length} violations`)
  }
  return { figures, violations }
}
