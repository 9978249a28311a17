import { sentTwice, statusAndCode, tally } from '../checks.ts'
import { pause, startLoad } from '../clock.ts'
import { addressOf, sendEmail } from '../events.ts'
import { arranged, type Findings, type Scenario, type World } from '../run.ts'

/** Hosts that are replaced one by one. */
export const rolling: Scenario = {
  name: 'rolling',
  shows: 'two hosts are restarted in turn by SIGTERM, under load: nothing lost, nothing twice',
  run: ({ random, seeds }) =>
    arranged({ store: 'redis', hosts: 2, random, leaseMs: 2_000 }, (world) =>
      restartInTurn(world, { restarts: seeds > 1 ? 10 : 2, perSecond: 100 }),
    ),
}

/** Restarts the hosts in turn while mails are sent. */
export async function restartInTurn(
  world: World,
  { restarts, perSecond }: { restarts: number; perSecond: number },
): Promise<Findings> {
  const { sender, hosts, journal, mail } = world
  const violations: string[] = []
  const codes: (number | null | undefined)[] = []
  // Slow, so that a mail is always in flight.
  mail.faults.add({ path: '/email', delayMs: 50, times: Number.POSITIVE_INFINITY })
  const endLoad = startLoad(perSecond, async (number) => {
    const delivery = sendEmail(`mail_${number}`)
    return { delivery, response: await sender.untilFinal(delivery) }
  })
  await pause(500)
  for (let restart = 0; restart < restarts; restart += 1) {
    const host = hosts[restart % hosts.length]
    const code = await host?.process.stop()
    codes.push(code)
    if (code !== 0) violations.push(`restart ${restart} ended with ${code}`)
    await host?.restart()
    await pause(200)
  }
  const ended = await endLoad()
  for (const { delivery, response } of ended) {
    const sent = journal.timesSent.get(addressOf(delivery.id)) ?? 0
    if (response.status !== 200 || sent !== 1)
      violations.push(
        `${delivery.id}: ${response.status} ${JSON.stringify(response.body)}, sent ${sent} times`,
      )
  }
  violations.push(...sentTwice(world))
  return {
    figures: {
      mails: ended.length,
      restarts: codes.length,
      'exit codes': tally(codes, String),
      attempts: tally(journal.of('response'), statusAndCode),
    },
    violations,
  }
}
