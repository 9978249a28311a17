import { checkMessages, quote, sentTwice, statusAndCode, tally, timesSent } from '../checks.ts'
import { pause, until } from '../clock.ts'
import { sendEmail, sendEmails } from '../events.ts'
import { arranged, type Findings, type Scenario, type World } from '../run.ts'

const PEOPLE = 6_000
const CALL_MS = 250
const HALT_MS = 1_500
const OUTAGE_MS = 4_000
const TIMEOUT_MS = 4_000
/** Of the host's writes in a batch: the claim, then the calls. */
const HALTED_WRITE = 5
/** The timeout of a command of the host. */
const COMMAND_MS = 500

export const storeHiccup: Scenario = {
  name: 'store-hiccup',
  shows: 'Redis is halted or away in the middle of an event: the host still tells what it knows',
  async run({ random }) {
    const batches = { store: 'redis', hosts: 1, random } as const
    const short = { environment: { REQUEST_TIMEOUT_MS: String(TIMEOUT_MS) } }
    const cases = {
      'halted in a batch': () => arranged(batches, haltInBatch),
      'away while answers come': () => arranged(batches, leaveBeforeAnswers),
      'restart after a lost intent': () => arranged({ ...batches, ...short }, restartAfterLostIntent),
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

/** Redis is halted while the host records the first calls of a batch. */
async function haltInBatch(world: World): Promise<Findings> {
  const { redis } = participants(world)
  return sendBatch(
    world,
    () => stoppedAtWrite(world, HALTED_WRITE, () => redis.pause()),
    async () => {
      await pause(HALT_MS)
      redis.resume()
    },
  )
}

/** Redis dies when the third call of a batch has taken effect, and is away while the answers come. */
async function leaveBeforeAnswers(world: World): Promise<Findings> {
  const { redis } = participants(world)
  const left = Promise.withResolvers<void>()
  let calls = 0
  world.atStep = async ({ to, when }) => {
    if (to !== 'mail' || when !== 'after') return
    calls += 1
    if (calls !== 3) return
    await redis.kill()
    left.resolve()
  }
  return sendBatch(
    world,
    () => left.promise,
    async () => {
      await pause(OUTAGE_MS)
      await redis.start()
    },
  )
}

/** Delivers a batch, and checks that every message was sent once and is told so. */
async function sendBatch(
  world: World,
  isAway: () => Promise<void>,
  comeBack: () => Promise<void>,
): Promise<Findings> {
  const { sender, mail, journal } = world
  mail.faults.add({ path: '/email/batch', delayMs: CALL_MS, times: Number.POSITIVE_INFINITY })
  const began = performance.now()
  const away = isAway().then(comeBack)
  const { status, body } = await sender.untilFinal(sendEmails('batch', PEOPLE), 60_000)
  const milliseconds = Math.round(performance.now() - began)
  await away
  const messages = checkMessages(world, 'batch', body)
  const violations = messages.flatMap(({ violation }) => violation ?? [])
  const told = messages.filter((message) => message.status === 'sent').length
  if (status !== 200 || told !== PEOPLE) violations.push(`status ${status}, and ${told} messages are “sent”`)
  const neverSent = messages.filter((message) => message.status === 'unknown' && message.sent === 0)
  return {
    figures: {
      messages: tally(messages, (message) => String(message.status)),
      'unknown though never accepted': neverSent.length,
      mails: journal.of('mail accepted').length,
      attempts: tally(journal.of('response'), statusAndCode),
      milliseconds,
    },
    violations: [...violations, ...sentTwice(world)],
  }
}

/** Redis records an intent and dies; the host gets no answer, and is replaced before Redis is back. */
async function restartAfterLostIntent(world: World): Promise<Findings> {
  const { sender } = world
  const { host, redis } = participants(world)
  const delivery = sendEmail('single')
  const stopped = stoppedAtWrite(world, 2, () => redis.pause())
  const first = sender.once(delivery)
  await stopped
  await pause(COMMAND_MS / 2)
  host.pause()
  redis.resume()
  await pause(2 * COMMAND_MS)
  await redis.kill()
  host.resume()
  const { status } = await first
  const stopping = host.process.stop()
  await pause(TIMEOUT_MS / 2)
  await redis.start()
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

/** Halts the host right before a write of the next event, and lets it go on after `act`. */
async function stoppedAtWrite(world: World, write: number, act: () => void): Promise<void> {
  const { host } = participants(world)
  await host.signalAtWrite({ write, when: 'before', signal: 'SIGSTOP' })
  await until('the host stops', () => host.stopped)
  act()
  host.resume()
}

function participants({ hosts: [host], redis }: World) {
  if (!host || !redis) throw new Error('There is no host, or no Redis.')
  return { host, redis }
}
