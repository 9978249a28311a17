import { sentTwice, statusAndCode, tally, timesSent } from '../checks.ts'
import { pause, startLoad } from '../clock.ts'
import { sendEmail } from '../events.ts'
import { arranged, type Findings, type Scenario, type World } from '../run.ts'

export const rolling: Scenario = {
  name: 'rolling',
  shows: 'two hosts are restarted in turn by SIGTERM, under load: nothing lost, nothing twice',
  run: ({ random, seeds }) =>
    arranged({ store: 'redis', hosts: 2, random }, (world) =>
      restartInTurn(world, { restarts: seeds > 1 ? 10 : 2, perSecond: 100 }),
    ),
}

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
    const id = `mail_${number}`
    return { id, ...(await sender.untilFinal(sendEmail(id))) }
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
  for (const { id, status, body } of ended) {
    const sent = timesSent(world, id)
    if (status !== 200 || sent !== 1)
      violations.push(`${id}: ${status} ${JSON.stringify(body)}, sent ${sent} times`)
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
