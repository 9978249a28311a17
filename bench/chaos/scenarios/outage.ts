import type { Fault } from '../../../packages/core/src/testing/index.ts'
import { quote, sentTwice, timesSent } from '../checks.ts'
import { pause, startLoad } from '../clock.ts'
import { sendEmail } from '../events.ts'
import { arranged, type Findings, joined, type Scenario } from '../run.ts'

const faults: Readonly<Record<string, Fault>> = {
  'a page with 502': { html: true, status: 502 },
  'a page with 503': { html: true, status: 503 },
  500: { status: 500 },
  reset: { cut: 'before' },
  'reset after the mail': { cut: 'after' },
  silence: { hang: true },
  429: { status: 429, headers: { 'retry-after': '1' } },
  maintenance: { status: 503, body: { ErrorCode: 100, Message: 'Maintenance' } },
}
/** How long the provider is away, and back, and away again, in milliseconds. */
const SHAPES = { 'ten seconds': [10_000], flapping: [3_000, 3_000, 3_000] }
const RATES = [3, 30]
/** A mail that leaves later has not heeded the first unknown outcome. */
const GRACE_MS = 250

export const outage: Scenario = {
  name: 'outage',
  shows: 'the mail provider is away: unknown is what had left, nothing is sent twice, and the rest arrives',
  async run({ say }) {
    const found: Record<string, Findings> = {}
    for (const [what, fault] of Object.entries(faults)) {
      for (const [shape, spans] of Object.entries(SHAPES)) {
        for (const rate of RATES) {
          const name = `${what}, ${shape}, ${rate} a second`
          say(name)
          found[name] = await outlast({ ...fault, times: Number.POSITIVE_INFINITY }, spans, rate)
        }
      }
    }
    return joined(found)
  },
}

/** @param spans the milliseconds that the provider is away, back, away … */
function outlast(fault: Fault, spans: readonly number[], rate: number): Promise<Findings> {
  const environment = { REQUEST_TIMEOUT_MS: '3000' }
  return arranged({ store: 'sqlite', hosts: 1, environment }, async (world) => {
    const { sender, mail } = world
    const violations: string[] = []
    let isAway = false
    /** When the first unknown outcome of this span was told. */
    let toldAt: number | undefined
    let [unknown, late] = [0, 0]
    world.atStep = ({ to, method, when }) => {
      const hasLeftLate = toldAt !== undefined && performance.now() > toldAt + GRACE_MS
      if (to === 'mail' && method === 'POST' && when === 'before' && isAway && hasLeftLate) late += 1
    }
    const endLoad = startLoad(rate, async (number) => {
      const delivery = sendEmail(`mail_${number}`)
      const response = await sender.untilFinal(delivery, 120_000)
      if (response.body.code === 'outcome_unknown') {
        unknown += 1
        toldAt ??= performance.now()
      } else if (response.status !== 200) violations.push(`${delivery.id}: ${quote(response)}`)
      else if (timesSent(world, delivery.id) !== 1) violations.push(`${delivery.id} is sent, and was not`)
    })
    await pause(1_000)
    for (const [index, spanMs] of spans.entries()) {
      isAway = index % 2 === 0
      toldAt = undefined
      if (isAway) mail.faults.add(fault)
      else mail.faults.clear()
      await pause(spanMs)
    }
    isAway = false
    mail.faults.clear()
    const ended = await endLoad()
    if (late > 0) violations.push(`${late} mails left after the first unknown outcome was told`)
    violations.push(...sentTwice(world))
    return { figures: { mails: ended.length, unknown }, violations }
  })
}
