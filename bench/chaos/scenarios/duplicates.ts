import { sentTwice, tally } from '../checks.ts'
import { inParallel } from '../clock.ts'
import { created, sendEmail } from '../events.ts'
import { arranged, type Findings, type Scenario, type World } from '../run.ts'

export const duplicates: Scenario = {
  name: 'duplicates',
  shows: '1,000 copies of one event, 50 at a time, at two hosts on one Redis: one application, one mail',
  run: ({ random, seeds }) =>
    arranged({ store: 'redis', hosts: 2, random }, (world) =>
      floodWith(world, { copies: seeds > 1 ? 1_000 : 200, atATime: 50 }),
    ),
}

export async function floodWith(
  world: World,
  { copies, atATime }: { copies: number; atATime: number },
): Promise<Findings> {
  const { sender, platform, idp, journal } = world
  const violations: string[] = []
  for (const [deployment, ids] of [
    ['dep_same', 1],
    ['dep_many', 20],
  ] as const) {
    platform.addDeployment({ id: deployment })
    const before = idp.applications.size
    await inParallel(copies, atATime, (number) =>
      sender.once(created(deployment, deployment, `${deployment}_evt_${number % ids}`)),
    )
    const made = idp.applications.size - before
    if (made !== 1) violations.push(`${copies} copies of ${deployment} made ${made} applications`)
  }
  await inParallel(copies, atATime, () => sender.once(sendEmail('one')))
  const mails = journal.of('mail accepted').length
  if (mails !== 1) violations.push(`${mails} mails were sent`)
  violations.push(...sentTwice(world))

  const responses = journal.of('response')
  for (const { status } of responses)
    if (status !== 200 && status !== 409) violations.push(`a response had status ${status}`)
  return {
    figures: {
      deliveries: responses.length,
      responses: tally(responses, ({ status }) => status),
      hosts: tally(responses, ({ host }) => `host ${host}`),
      applications: journal.of('application created').length,
      mails,
    },
    violations,
  }
}
