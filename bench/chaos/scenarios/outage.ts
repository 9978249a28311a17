import type { Fault } from '../../../packages/core/src/testing/index.ts'
import { type BatchJournal, createMailer, type MessageRecord } from '../../../packages/mailer/src/index.ts'
import { pause, startLoad } from '../../shared/clock.ts'
import { nextPort } from '../../shared/processes.ts'
import { type Findings, quote, sentTwice, tally, timesSent } from '../checks.ts'
import { addressOf, sendEmail, sendEmails } from '../events.ts'
import type { Scenario } from '../scenario.ts'
import { type Break, prepareCaller, startWay } from '../way.ts'
import { arranged, type World } from '../world.ts'

const faults: Readonly<Record<string, Fault | Break>> = {
  refused: 'refused',
  DNS: 'dns',
  TLS: 'tls',
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
const SHAPES = { '20 s': [20_000], '120 s': [120_000], flapping: [3_000, 3_000, 3_000, 3_000, 3_000] }
/** A mail that leaves later has not heeded the first unknown outcome. */
const GRACE_MS = 250
const CALL = 500
const MOST_IN_FLIGHT = 12 * CALL
/** A seed runs a third of the cells. */
const THIRDS = 3
const PATIENCE_MS = 240_000

interface Outage {
  world: World
  /** Where the mail provider is. */
  baseUrl: string
  /** Resolves when the provider is back for good. */
  over: Promise<void>
  /** Whether the provider is away, for the only time. */
  isAway: () => boolean
}
type Fate = 'sent' | 'unknown'
type Result = { index: number; status: Fate | 'failed' }
type Load = (outage: Outage) => Promise<Map<string, Fate>>
interface Cell {
  fault: Fault | Break
  spans: readonly number[]
  load: Load
}

const loads: Readonly<Record<string, Load>> = {
  '0.2/s': singles(0.2),
  '3/s': singles(3),
  '30/s': singles(30),
  'batch of 10,000': hostBatch,
  'SDK, 40,000': sdkBatch,
}

export const outage: Scenario = {
  name: 'outage',
  shows: 'the mail provider is away: unknown is what had left, nothing is sent twice, and the rest arrives',
  atATime: 9,
  cases({ seeds, only }) {
    prepareCaller()
    const cells = Object.entries(SHAPES).flatMap(([shape, spans]) =>
      Object.entries(loads).flatMap(([sent, load]) =>
        Object.entries(faults).map(([what, fault]) => ({
          name: `${what}, ${shape}, ${sent}`,
          run: (found: Findings) => outlast({ fault, spans, load }, found),
        })),
      ),
    )
    const isOfSeeds = (_: unknown, at: number) => seeds.some((seed) => (seed + at) % THIRDS === 0)
    const chosen = only ? cells : cells.filter(isOfSeeds)
    return Object.fromEntries(chosen.map(({ name, run }) => [name, run]))
  },
}

async function outlast({ fault, spans, load }: Cell, found: Findings): Promise<void> {
  const mailPort = nextPort()
  const way = await startWay(typeof fault === 'string' ? fault : undefined, mailPort)
  const host = { REQUEST_TIMEOUT_MS: '5000', MAILER_API_BASE: way.url }
  await arranged({ store: 'sqlite', hosts: [host], mailPort }, async (world) => {
    let isAway = false
    async function mend(): Promise<void> {
      world.mail.faults.clear()
      await way.mend()
    }
    async function breakAndMend(): Promise<void> {
      await pause(1_000)
      for (const [index, spanMs] of spans.entries()) {
        isAway = spans.length === 1
        if (index % 2 === 1) await mend()
        else if (typeof fault === 'string') way.break()
        else world.mail.faults.add({ ...fault, times: Number.POSITIVE_INFINITY })
        await pause(spanMs)
      }
      isAway = false
      await mend()
    }
    const fates = await load({ world, baseUrl: way.url, over: breakAndMend(), isAway: () => isAway })
    found.figures.messages = tally(fates.values(), (fate) => fate)
    const wrong = [...fates].filter(([id, fate]) => fate === 'sent' && timesSent(world, id) !== 1)
    found.violations.push(...sentTwice(world))
    found.violations.push(...wrong.slice(0, 5).map(([id]) => `${id} is sent, and was not`))
  }).finally(way.close)
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

/** Messages that failed go into the next batch. */
function hostBatch({ world, over }: Outage): Promise<Map<string, Fate>> {
  return untilSent(10_000, over, async (left, round) => {
    const { body } = await world.sender.untilFinal(sendEmails(`batch_${round}`, left), PATIENCE_MS)
    const { results = [] } = Object(body.result)
    return new Map(results.map(({ index, status }: Result) => [`batch_${round}.${index}`, status]))
  })
}

/** The program runs again with its journal until no message fails. */
function sdkBatch({ baseUrl, over }: Outage): Promise<Map<string, Fate>> {
  const records = new Map<string, MessageRecord | undefined>()
  const journal: BatchJournal = {
    read: () => new Map([...records].flatMap(([key, record]) => (record ? [[key, record]] : []))),
    write(written) {
      for (const [key, record] of written) records.set(key, record)
    },
  }
  const account = { apiToken: 'shared-token', fromEmail: 'shop@example.com' }
  const mailer = createMailer({ ...account, baseUrl, timeoutMs: 5_000 })
  const ids = Array.from({ length: 40_000 }, (_, index) => `sdk.${index}`)
  const messages = ids.map((id) => ({ key: id, to: addressOf(id), subject: 'Hi', textBody: 'Hi' }))
  return untilSent(messages.length, over, async () => {
    const { results = [] } = await mailer.sendEmails(messages, { journal }).catch((error) => error)
    return new Map(results.map(({ index, status }: Result) => [`sdk.${index}`, status]))
  })
}

/** Sends until the fate of each message is known, or nobody waits any longer. */
async function untilSent(
  messages: number,
  over: Promise<void>,
  send: (left: number, round: number) => Promise<Map<string, Fate | 'failed'>>,
): Promise<Map<string, Fate>> {
  const fates = new Map<string, Fate>()
  const end = Date.now() + PATIENCE_MS
  for (let round = 0; fates.size < messages && Date.now() < end; round += 1) {
    for (const [id, fate] of await send(messages - fates.size, round))
      if (fate !== 'failed') fates.set(id, fate)
    await pause(1_000)
  }
  await over
  const unknown = [...fates.values()].filter((fate) => fate === 'unknown').length
  if (fates.size < messages) throw new Error(`${messages - fates.size} messages were never sent`)
  if (unknown > 3 * MOST_IN_FLIGHT) throw new Error(`${unknown} messages are unknown`)
  return fates
}
