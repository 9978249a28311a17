import type { Fault } from '../../../packages/core/src/testing/index.ts'
import { nextPort } from '../../shared/processes.ts'
import { type Findings, quote, sentTwice, tally, timesSent } from '../checks.ts'
import { inParallel, pause, startLoad } from '../clock.ts'
import { sendEmail, sendEmails } from '../events.ts'
import type { Scenario } from '../scenario.ts'
import { type Break, startWay } from '../way.ts'
import { arranged, type World } from '../world.ts'

const faults: Readonly<Record<string, Fault | Break>> = {
  refused: 'refuse',
  TLS: 'expire',
  429: { status: 429, headers: { 'retry-after': '1' } },
  'maintenance (503)': { status: 503, body: { ErrorCode: 100, Message: 'Maintenance' } },
  'a page with 503': { html: true, status: 503 },
  500: { status: 500 },
  'a page with 502': { html: true, status: 502 },
  reset: { cut: 'before' },
  'reset after the mail': { cut: 'after' },
  silence: { hang: true },
}
/** How long the provider is away, and back, and away again, in milliseconds. */
const SHAPES = { '20 s': [20_000], flapping: [3_000, 3_000, 3_000, 3_000, 3_000] }
/** A mail that leaves later has not heeded the first unknown outcome. */
const GRACE_MS = 250
const BATCH = 10_000
/** Of a batch: twelve calls of 500 in flight, each time that the provider goes away. */
const MOST_UNKNOWN = 3 * 12 * 500
const AT_A_TIME = 9
const PATIENCE_MS = 240_000

interface Outage {
  world: World
  /** Resolves when the provider is back for good. */
  over: Promise<void>
  /** Whether the provider is away, for the only time. */
  isAway: () => boolean
}
type Fate = 'sent' | 'unknown'
type Load = (outage: Outage) => Promise<Map<string, Fate>>

interface Cell {
  name: string
  fault: Fault | Break
  spans: readonly number[]
  load: Load
}

const loads: Readonly<Record<string, Load>> = { '3/s': singles(3), '30/s': singles(30), batch }

export const outage: Scenario = {
  name: 'outage',
  shows: 'the mail provider is away: unknown is what had left, nothing is sent twice, and the rest arrives',
  async run(found, { say, only }) {
    const cells = Object.entries(faults).flatMap(([what, fault]) =>
      Object.entries(SHAPES).flatMap(([shape, spans]) =>
        Object.entries(loads).map(([sent, load]) => ({
          name: `${what}, ${shape}, ${sent}`,
          fault,
          spans,
          load,
        })),
      ),
    )
    const chosen = cells.filter(({ name }) => name.includes(only))
    await inParallel(AT_A_TIME, chosen, async (cell) => {
      await outlast(cell, found).catch((error) => found.violations.push(`${cell.name}: ${error}`))
      say(`${cell.name} is over, ${found.violations.length} violations`)
    })
  },
}

async function outlast({ name, fault, spans, load }: Cell, found: Findings): Promise<void> {
  const mailPort = nextPort()
  const way = typeof fault === 'string' ? await startWay(mailPort) : undefined
  const host = { REQUEST_TIMEOUT_MS: '5000', ...way?.trust, ...(way && { MAILER_API_BASE: way.url }) }
  await arranged({ store: 'sqlite', hosts: [host], mailPort }, async (world) => {
    let isAway = false
    async function mend(): Promise<void> {
      world.mail.faults.clear()
      await way?.mend()
    }
    async function breakAndMend(): Promise<void> {
      await pause(1_000)
      for (const [index, spanMs] of spans.entries()) {
        isAway = spans.length === 1
        if (index % 2 === 1) await mend()
        else if (typeof fault === 'string') way?.break(fault)
        else world.mail.faults.add({ ...fault, times: Number.POSITIVE_INFINITY })
        await pause(spanMs)
      }
      isAway = false
      await mend()
    }
    const fates = await load({ world, over: breakAndMend(), isAway: () => isAway })
    found.figures[name] = tally(fates.values(), (fate) => fate)
    const wrong = [...fates].filter(([id, fate]) => fate === 'sent' && timesSent(world, id) !== 1)
    const violations = [...sentTwice(world), ...wrong.map(([id]) => `${id} is sent, and was not`).slice(0, 5)]
    found.violations.push(...violations.map((each) => `${name}: ${each}`))
  }).finally(way?.close)
}

/** Single mails at a steady rate, which the sender repeats as it is told. */
function singles(rate: number): Load {
  return async ({ world, over, isAway }) => {
    const fates = new Map<string, Fate>()
    let toldAt: number | undefined
    let late = 0
    world.atStep = ({ to, method, when }) => {
      const hasLeftLate = isAway() && toldAt !== undefined && performance.now() > toldAt + GRACE_MS
      if (to === 'mail' && method === 'POST' && when === 'before' && hasLeftLate) late += 1
    }
    const endLoad = startLoad(rate, async (number) => {
      const id = `mail_${number}`
      const response = await world.sender.untilFinal(sendEmail(id), PATIENCE_MS)
      const isUnknown = response.body.code === 'outcome_unknown'
      if (isUnknown && isAway()) toldAt ??= performance.now()
      if (response.status !== 200 && !isUnknown) throw new Error(`${id}: ${quote(response)}`)
      fates.set(id, isUnknown ? 'unknown' : 'sent')
    })
    await over
    await endLoad()
    if (late > 0) throw new Error(`${late} mails left after the first unknown outcome was told`)
    return fates
  }
}

/** A large batch. Messages that failed go into the next one, until none fails or nobody waits any longer. */
async function batch({ world, over }: Outage): Promise<Map<string, Fate>> {
  const fates = new Map<string, Fate>()
  const end = Date.now() + PATIENCE_MS
  for (let round = 0; fates.size < BATCH && Date.now() < end; round += 1) {
    const id = `batch_${round}`
    const { body } = await world.sender.untilFinal(sendEmails(id, BATCH - fates.size), PATIENCE_MS)
    const { results = [] }: { results?: { index: number; status: Fate | 'failed' }[] } = Object(body.result)
    for (const { index, status } of results) if (status !== 'failed') fates.set(`${id}.${index}`, status)
    await pause(1_000)
  }
  await over
  const unknown = [...fates.values()].filter((fate) => fate === 'unknown').length
  if (fates.size < BATCH) throw new Error(`${BATCH - fates.size} messages were never sent`)
  if (unknown > MOST_UNKNOWN) throw new Error(`${unknown} messages are unknown`)
  return fates
}
