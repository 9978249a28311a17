import { sentTwice, statusAndCode, tally } from '../checks.ts'
import { pause } from '../clock.ts'
import { arranged, type Scenario } from '../run.ts'
import { disturb } from './soak-disturbances.ts'
import { checkLife, type Life, live } from './soak-lives.ts'

/** The lease of its hosts, in milliseconds. */
const LEASE_MS = 2_000
const PER_SECOND = 50
/** The limit of lives at a time: a platform queues its events while no host is there. */
const MAX_LIVING = 300

/** Everything at once, for `minutes`. */
export const soak: Scenario = {
  name: 'soak',
  shows: 'about 50 events a second, with kills, pauses and outages at random: no orphan, no double, no loss',
  run: ({ random, minutes, say }) =>
    arranged(
      {
        store: 'redis',
        hosts: 2,
        random: random.fork('sender'),
        leaseMs: LEASE_MS,
        settleMs: LEASE_MS,
        environment: { REQUEST_TIMEOUT_MS: '4000' },
      },
      async (world) => {
        const { journal, idp, platform } = world
        const end = Date.now() + minutes * 60_000
        const lives: Promise<Life>[] = []
        const disturbing = disturb(world, {
          random: random.fork('disturbances'),
          leaseMs: LEASE_MS,
          end,
        })
        const drawn = random.fork('lives')
        const began = performance.now()
        let reported = 0
        let living = 0
        for (let number = 0; Date.now() < end; number += 1) {
          while (living >= MAX_LIVING) await pause(100)
          living += 1
          lives.push(live(world, number, drawn.fork(number)).finally(() => (living -= 1)))
          // A life has about 1.6 events, without redeliveries.
          await pause(Math.max(0, began + (number * 1_600) / PER_SECOND - performance.now()))
          const minute = Math.floor((performance.now() - began) / 60_000)
          if (minute > reported) {
            reported = minute
            say(`${minute} min: ${lives.length} lives, ${journal.of('answer').length} deliveries`)
          }
        }
        await disturbing
        const ended = await Promise.all(lives)

        const violations = ended.flatMap((life) => checkLife(world, life))
        violations.push(...sentTwice(world))
        for (const { falls } of world.hosts) violations.push(...falls)
        for (const { delivery, log } of journal.of('host fault')) violations.push(`${delivery}: ${log}`)
        const kept = new Set(
          ended.flatMap(({ deployment, isDeleted }) =>
            deployment && !isDeleted ? [platform.deployments.get(deployment)?.outputs.applicationId] : [],
          ),
        )
        const orphans = [...idp.applications.keys()].filter((id) => !kept.has(id))
        for (const orphan of orphans) violations.push(`${orphan} belongs to no deployment`)
        const answers = journal.of('answer')
        return {
          figures: {
            minutes,
            lives: ended.length,
            deliveries: answers.length,
            'deliveries per second': Math.round(answers.length / ((performance.now() - began) / 1000)),
            answers: tally(answers, statusAndCode),
            disturbances: tally(journal.of('disturbance'), ({ what }) => what),
            mails: journal.of('mail accepted').length,
            'mails answered with outcome_unknown': ended.filter(
              ({ answer }) => answer.body.code === 'outcome_unknown',
            ).length,
            'messages of batches that are unknown': ended.reduce((sum, { unknown }) => sum + unknown, 0),
            'applications created': journal.of('application created').length,
            'applications deleted': journal.of('application deleted').length,
            orphans: orphans.length,
          },
          violations,
        }
      },
    ),
}
