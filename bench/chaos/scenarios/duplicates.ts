import { sentTwice, tally } from '../checks.ts'
import { inParallel } from '../clock.ts'
import { created, sendEmail } from '../events.ts'
import { type Arrangement, arranged, type Findings, type ScenarioOptions } from '../run.ts'

const COPIES = 1_000
const AT_A_TIME = 50

/** One event, delivered a thousand times at once to two hosts. */
export const duplicates = {
  name: 'duplicates',
  shows: '1,000 copies of one event, 50 at a time, at two hosts on one Redis: one application, one mail',
  run: ({ random, seeds }: ScenarioOptions) =>
    arranged({ store: 'redis', hosts: 2, random }, (arrangement) =>
      floodWith(arrangement, { copies: seeds > 1 ? COPIES : COPIES / 5, atATime: AT_A_TIME }),
    ),
}

/** Delivers copies of a creation, of the same under many ids, and of a mail. */
export async function floodWith(
  arrangement: Arrangement,
  { copies, atATime }: { copies: number; atATime: number },
): Promise<Findings> {
  const { sender, platform, idp, journal } = arrangement
  const violations: string[] = []
  const numbers = () => Array.from({ length: copies }, (_, index) => index)

  for (const [deployment, ids] of [
    ['dep_same', 1],
    ['dep_many', 20],
  ] as const) {
    platform.addDeployment({ id: deployment })
    const before = idp.applications.size
    await inParallel(numbers(), atATime, async (number) => {
      await sender.once(created(deployment, deployment, `${deployment}_evt_${number % ids}`))
    })
    const made = idp.applications.size - before
    if (made !== 1) violations.push(`${copies} copies of ${deployment} made ${made} applications`)
  }
  await inParallel(numbers(), atATime, async () => void (await sender.once(sendEmail('one'))))
  if (journal.of('mail accepted').length !== 1)
    violations.push(`${journal.of('mail accepted').length} mails were sent`)
  violations.push(...sentTwice(arrangement))

  const answers = journal.of('answer')
  for (const { status } of answers)
    if (status !== 200 && status !== 409) violations.push(`an answer was ${status}`)
  return {
    figures: {
      deliveries: answers.length,
      answers: tally(answers, ({ status }) => status),
      hosts: tally(answers, ({ host }) => `host ${host}`),
      applications: journal.of('application created').length,
      mails: journal.of('mail accepted').length,
    },
    violations,
  }
}
