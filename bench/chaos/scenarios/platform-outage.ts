import { checkPublished, quote, tally } from '../checks.ts'
import { created } from '../events.ts'
import { arranged, type Findings, type Scenario, type World } from '../run.ts'

export const platformOutage: Scenario = {
  name: 'platform-outage',
  shows: 'the platform responds with 503 for a while: applications are kept, and published once it is back',
  run: ({ random, seeds }) =>
    arranged({ store: 'sqlite', hosts: 1, random }, (world) =>
      outlastPlatform(world, {
        deployments: seeds > 1 ? 10 : 3,
        tries: seeds > 1 ? 3 : 1,
        callbacks: /^\/deployments\/.+\/.+$/,
      }),
    ),
}

export async function outlastPlatform(
  world: World,
  { deployments, tries, callbacks }: { deployments: number; tries: number; callbacks: RegExp },
): Promise<Findings> {
  const { sender, platform, idp, journal } = world
  const violations: string[] = []
  const ids = Array.from({ length: deployments }, (_, index) => `dep_${index}`)
  for (const id of ids) platform.addDeployment({ id })

  platform.faults.add({ path: callbacks, status: 503, times: Number.POSITIVE_INFINITY })
  for (let round = 0; round < tries; round += 1) {
    for (const received of await Promise.all(ids.map((id) => sender.once(created(id, id)))))
      if (received.status !== 502 || received.body.retryable !== true)
        violations.push(`a response was ${quote(received)}`)
    if (idp.applications.size !== deployments)
      violations.push(`${idp.applications.size} applications were kept`)
  }
  if (journal.of('callback').some(({ what }) => what === 'outputs')) violations.push('outputs got through')

  platform.faults.clear()
  await Promise.all(ids.map((id) => sender.untilFinal(created(id, id))))
  for (const id of ids) violations.push(...checkPublished(world, id))
  const made = journal.of('application created').length
  if (made !== deployments) violations.push(`${made} applications were made for ${deployments} deployments`)
  const gone = journal.of('application deleted').length
  if (gone > 0) violations.push(`${gone} applications were deleted`)
  return {
    figures: {
      deployments,
      applications: made,
      responses: tally(journal.of('response'), ({ status }) => status),
    },
    violations,
  }
}
