import { checkMessages, quote, sentTwice, tally, timesSent } from '../checks.ts'
import { pause, until } from '../clock.ts'
import { sendEmail, sendEmails } from '../events.ts'
import { arranged, type Findings, type Scenario, type World } from '../run.ts'

const PEOPLE = 6_000
const CALL_MS = 250
const HALT_MS = 1_500
const OUTAGE_MS = 4_000
const TIMEOUT_MS = 2_000

export const storeHiccup: Scenario = {
  name: 'store-hiccup',
  shows: 'Redis is halted or away in the middle of an event: the host still tells what it knows',
  async run({ random }) {
    const cases: Record<string, () => Promise<Findings>> = {
      'halted in a batch': () =>
        arranged({ store: 'redis', hosts: 1, random, leaseMs: 20_000 }, (world) =>
          sendThrough(world, 'before', HALT_MS, 'pause'),
        ),
      'away while answers come': () =>
        arranged({ store: 'redis', hosts: 1, random, leaseMs: 20_000 }, (world) =>
          sendThrough(world, 'after', OUTAGE_MS, 'kill'),
        ),
      'restart after a lost intent': () =>
        arranged(
          {
            store: 'redis',
            hosts: 1,
            random,
            leaseMs: 5_000,
            environment: { REQUEST_TIMEOUT_MS: String(TIMEOUT_MS) },
          },
          restartAfterLostIntent,
        ),
    }
    const findings: Findings = { figures: {}, violations: [] }
    for (const [name, run] of Object.entries(cases)) {
      const { figures, violations } = await run()
      for (const [what, figure] of Object.entries(figures)) findings.figures[`${name}: ${what}`] = figure
      findings.violations.push(...violations.map((violation) => `${name}: ${violation}`))
    }
    return findings
  },
}

/** Delivers a batch, and takes Redis away at its third call: before the call arrives, or after it took effect. */
async function sendThrough(
  world: World,
  when: 'before' | 'after',
  outageMs: number,
  outage: 'kill' | 'pause',
): Promise<Findings> {
  const { sender, redis, mail, journal } = world
  const id = 'batch'
  mail.faults.add({ path: '/email/batch', delayMs: CALL_MS, times: Number.POSITIVE_INFINITY })
  let calls = 0
  let isBack: Promise<void> | undefined
  world.atStep = async (step) => {
    if (step.to !== 'mail' || step.when !== when) return
    calls += 1
    if (calls !== 3) return
    await redis?.[outage]()
    isBack = pause(outageMs).then(() => (outage === 'kill' ? redis?.start() : redis?.resume()))
  }
  const began = performance.now()
  const { status, body } = await sender.untilFinal(sendEmails(id, PEOPLE), 60_000)
  const milliseconds = Math.round(performance.now() - began)
  await isBack
  const messages = checkMessages(world, id, body)
  const violations = messages.flatMap(({ violation }) => violation ?? [])
  const told = messages.filter((message) => message.status === 'sent').length
  if (status !== 200 || told !== PEOPLE) violations.push(`status ${status}, and ${told} messages are “sent”`)
  return {
    figures: {
      messages: tally(messages, (message) => String(message.status)),
      'unknown though never accepted': messages.filter(
        ({ status, sent }) => status === 'unknown' && sent === 0,
      ).length,
      mails: journal.of('mail accepted').length,
      attempts: tally(journal.of('response'), ({ status }) => status),
      milliseconds,
    },
    violations: [...violations, ...sentTwice(world)],
  }
}

/** The intent to send is on its way to a halted Redis when the event's time ends, and the host is replaced. */
async function restartAfterLostIntent(world: World): Promise<Findings> {
  const { sender, redis } = world
  const [host] = world.hosts
  if (!host || !redis) throw new Error('There is no host, or no Redis.')
  const delivery = sendEmail('single')
  await host.signalAtWrite({ write: 2, when: 'before', signal: 'SIGSTOP' })
  const first = sender.once(delivery)
  await until('the host stops before it records the intent', () => host.stopped)
  redis.pause()
  host.resume()
  const { status } = await first
  const stopping = host.process.stop()
  await pause(TIMEOUT_MS / 4)
  redis.resume()
  const exit = await stopping
  await host.restart()
  const final = await sender.untilFinal(delivery)
  const sent = timesSent(world, 'single')
  const isTold = final.status === 200 && sent === 1
  return {
    figures: { 'first response': status, 'exit code': String(exit), 'last response': final.status, sent },
    violations: isTold ? [] : [`${quote(final)}, sent ${sent} times`],
  }
}
