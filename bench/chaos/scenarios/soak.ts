import { sentTwice, statusAndCode, tally } from '../checks.ts'
import { pause } from '../clock.ts'
import { arranged, type Findings, type Scenario, type ScenarioOptions, type World } from '../run.ts'
import { disturb } from './soak-disturbances.ts'
import { checkLife, type Life, live, unknownOf } from './soak-lives.ts'

const LEASE_MS = 5_000
const PER_SECOND = 50
/** The limit of lives at a time: a platform queues its events while no host is there. */
const MAX_LIVING = 300

export const soak: Scenario = {
  name: 'soak',
  shows: 'about 50 events a second, with kills, pauses and outages at random: no orphan, no double, no loss',
  run: (options) =>
    arranged(
      {
        store: 'redis',
        hosts: 2,
        random: options.random.fork('sender'),
        leaseMs: LEASE_MS,
        settleMs: LEASE_MS,
        environment: { REQUEST_TIMEOUT_MS: '4000' },
      },
      (world) => endure(world, options),
    ),
}

async function endure(world: World, { random, minutes, say }: ScenarioOptions): Promise<Findings> {
  const { journal, idp, platform } = world
  const end = Date.now() + minutes * 60_000
  const disturbing = disturb(world, { random: random.fork('disturbances'), leaseMs: LEASE_MS, end })
  const drawn = random.fork('lives')
  const began = performance.now()
  const begun: Promise<Life>[] = []
  let reported = 0
  let living = 0
  while (Date.now() < end) {
    while (living >= MAX_LIVING) await pause(100)
    living += 1
    const number = begun.length
    begun.push(live(world, number, drawn.fork(number)).finally(() => (living -= 1)))
    // A life has about 1.6 events, without redeliveries.
    await pause(Math.max(0, began + (number * 1_600) / PER_SECOND - performance.now()))
    const minute = Math.floor((performance.now() - began) / 60_000)
    if (minute === reported) continue
    reported = minute
    say(`${minute} min: ${begun.length} lives, ${journal.of('response').length} deliveries`)
  }
  await disturbing
  const lives = await Promise.all(begun)

  const kept = lives.flatMap(({ deployment, isDeleted }) =>
    deployment && !isDeleted ? [platform.deployments.get(deployment)?.outputs.applicationId] : [],
  )
  const orphans = [...idp.applications.keys()].filter((id) => !kept.includes(id))
  const responses = journal.of('response')
  return {
    figures: {
      minutes,
      lives: lives.length,
      deliveries: responses.length,
      'deliveries per second': Math.round(responses.length / ((performance.now() - began) / 1000)),
      responses: tally(responses, statusAndCode),
      disturbances: tally(journal.of('disturbance'), ({ what }) => what),
      mails: journal.of('mail accepted').length,
      'mails with outcome_unknown': lives.filter(({ response: { body } }) => body.code === 'outcome_unknown')
        .length,
      'messages of batches that are unknown': lives.reduce((sum, life) => sum + unknownOf(life), 0),
      'applications created': journal.of('application created').length,
      'applications deleted': journal.of('application deleted').length,
      orphans: orphans.length,
    },
    violations: [
      ...lives.flatMap((life) => checkLife(world, life)),
      ...sentTwice(world),
      ...world.hosts.flatMap(({ falls }) => falls),
      ...journal.of('host fault').map(({ delivery, log }) => `${delivery}: ${log}`),
      ...orphans.map((orphan) => `${orphan} belongs to no deployment`),
    ],
  }
}
