import { sentTwice, tally, timesSent } from '../checks.ts'
import { pause } from '../clock.ts'
import { addressOf, sendEmail } from '../events.ts'
import { type Arrangement, arranged, type Findings, type ScenarioOptions } from '../run.ts'
import type { Answer, Delivery } from '../sender.ts'

/** Hosts that are replaced one by one. */
export const rolling = {
  name: 'rolling',
  shows: 'two hosts are restarted in turn by SIGTERM, under load: nothing lost, nothing twice',
  run: ({ random, seeds }: ScenarioOptions) =>
    arranged({ store: 'redis', hosts: 2, random, leaseMs: 2_000 }, (arrangement) =>
      restartInTurn(arrangement, { restarts: seeds > 1 ? 10 : 2, perSecond: 100 }),
    ),
}

/** Restarts the hosts in turn while mails are sent. */
export async function restartInTurn(
  arrangement: Arrangement,
  { restarts, perSecond }: { restarts: number; perSecond: number },
): Promise<Findings> {
  const { sender, hosts, journal, mail } = arrangement
  const violations: string[] = []
  const finals: Promise<{ delivery: Delivery; answer: Answer }>[] = []
  const codes: (number | null)[] = []
  // Slow enough that there is always something under way.
  mail.faults.add({ path: '/email', delayMs: 50, times: Number.POSITIVE_INFINITY })
  let loading = true
  async function load(): Promise<void> {
    const began = performance.now()
    for (let number = 0; loading; number += 1) {
      const delivery = sendEmail(`mail_${number}`)
      finals.push(sender.untilAnswered(delivery).then((answer) => ({ delivery, answer })))
      await pause(Math.max(0, began + (number * 1_000) / perSecond - performance.now()))
    }
  }
  const loaded = load()
  await pause(500)
  for (let restart = 0; restart < restarts; restart += 1) {
    const host = hosts[restart % hosts.length]
    const code = await host?.stop()
    codes.push(code ?? null)
    if (code !== 0) violations.push(`restart ${restart} ended with ${code}`)
    await host?.restart()
    await pause(200)
  }
  loading = false
  await loaded

  const answered = await Promise.all(finals)
  const times = timesSent(arrangement)
  for (const { delivery, answer } of answered) {
    const sent = times.get(addressOf(delivery.id)) ?? 0
    if (answer.status !== 200 || sent !== 1)
      violations.push(`${delivery.id}: ${answer.status} ${JSON.stringify(answer.body)}, sent ${sent} times`)
  }
  violations.push(...sentTwice(arrangement))
  return {
    figures: {
      mails: finals.length,
      restarts: codes.length,
      'exit codes': tally(codes, String),
      tries: tally(journal.of('answer'), ({ status, code }) => (code ? `${status} ${code}` : status)),
    },
    violations,
  }
}
