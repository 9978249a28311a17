import type { Fault } from '../../../packages/core/src/testing/index.ts'
import { type BatchJournal, createMailer, type MessageRecord } from '../../../packages/mailer/src/index.ts'
import { sentTwice, tally, timesSent } from '../checks.ts'
import { pause, startLoad } from '../clock.ts'
import { addressOf, sendEmail, sendEmails } from '../events.ts'
import { arranged, type Findings, joined, type Scenario, type World } from '../run.ts'
import { type Break, prepareCaller, startWay } from '../way.ts'

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
type Result = { index: number; status: Fate | 'failed' }
type Load = (outage: Outage) => Promise<Map<string, Fate>>

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
  async run({ say, only }) {
    prepareCaller()
    const all = Object.entries(faults).flatMap(([what, fault]) =>
      Object.entries(SHAPES).flatMap(([shape, spans]) =>
        Object.entries(loads).map(([name, load]) => ({
          ...{ name: `${what}, ${shape}, ${name}`, fault, spans, load },
        })),
      ),
    )
    const cells = all.filter(({ name }) => name.includes(only))
    const found: Record<string, Findings> = {}
    const work = async () => {
      for (let cell = cells.shift(); cell; cell = cells.shift()) {
        found[cell.name] = await outlast(cell).catch((error) => ({
          figures: {},
          violations: [String(error)],
        }))
        say(`${cell.name}: ${JSON.stringify(found[cell.name])}`)
      }
    }
    await Promise.all(Array.from({ length: AT_A_TIME }, work))
    return joined(found)
  },
}

async function outlast(cell: {
  fault: Fault | Break
  spans: readonly number[]
  load: Load
}): Promise<Findings> {
  const { fault, spans, load } = cell
  let port = 0
  const way = await startWay(typeof fault === 'string' ? fault : undefined, () => port)
  const environment = { REQUEST_TIMEOUT_MS: '5000', MAILER_API_BASE: way.url }
  return arranged({ store: 'sqlite', hosts: 1, environment }, async (world) => {
    port = Number(new URL(world.variables.MAILER_API_BASE).port)
    world.variables.MAILER_API_BASE = way.url
    let isAway = false
    const setBroken = async (isBroken: boolean) => {
      world.mail.faults.clear()
      if (isBroken && typeof fault === 'object')
        world.mail.faults.add({ ...fault, times: Number.POSITIVE_INFINITY })
      else await (isBroken ? way.break() : way.mend())
    }
    const outage = async () => {
      await pause(1_000)
      for (const [index, spanMs] of spans.entries()) {
        isAway = spans.length === 1
        await setBroken(index % 2 === 0)
        await pause(spanMs)
      }
      isAway = false
      await setBroken(false)
    }
    const fates = await load({ world, over: outage(), isAway: () => isAway })
    const wrong = [...fates].filter(([id, fate]) => fate === 'sent' && timesSent(world, id) !== 1)
    const violations = [...sentTwice(world), ...wrong.map(([id]) => `${id} is sent, and was not`).slice(0, 5)]
    return { figures: { mails: tally(fates.values(), (fate) => fate) }, violations }
  }).finally(() => way.close())
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
      const { id } = sendEmail(`mail_${number}`)
      const { status, body } = await world.sender.untilFinal(sendEmail(id), PATIENCE_MS)
      if (body.code === 'outcome_unknown' && isAway()) toldAt ??= performance.now()
      if (status !== 200 && body.code !== 'outcome_unknown')
        throw new Error(`${id}: ${status} ${JSON.stringify(body)}`)
      fates.set(id, status === 200 ? 'sent' : 'unknown')
    })
    await over
    await endLoad()
    if (late > 0) throw new Error(`${late} mails left after the first unknown outcome was told`)
    return fates
  }
}

/** Messages that failed go into the next batch. */
function hostBatch({ world, over }: Outage): Promise<Map<string, Fate>> {
  return untilSent(10_000, over, async (_, left, round) => {
    const { body } = await world.sender.untilFinal(sendEmails(`batch_${round}`, left), PATIENCE_MS)
    const { results = [] } = Object(body.result)
    return new Map(results.map(({ index, status }: Result) => [`batch_${round}.${index}`, status]))
  })
}

/** The program runs again with its journal until no message fails. */
function sdkBatch({ world, over }: Outage): Promise<Map<string, Fate>> {
  const records = new Map<string, MessageRecord | undefined>()
  const journal: BatchJournal = {
    read: () => new Map([...records].flatMap(([key, record]) => (record ? [[key, record]] : []))),
    write(written) {
      for (const [key, record] of written) records.set(key, record)
    },
  }
  const { MAILER_API_BASE: baseUrl } = world.variables
  const mailer = createMailer({
    apiToken: 'shared-token',
    fromEmail: 'shop@example.com',
    baseUrl,
    timeoutMs: 5_000,
  })
  return untilSent(40_000, over, async (count) => {
    const ids = Array.from({ length: count }, (_, index) => `sdk.${index}`)
    const messages = ids.map((id) => ({ to: addressOf(id), subject: 'Hi', textBody: 'Hi' }))
    const { results = [] } = await mailer.sendEmails(messages, { journal }).catch((error) => error)
    return new Map(results.map(({ index, status }: Result) => [`sdk.${index}`, status]))
  })
}

/** Sends until the fate of each message is known, or nobody waits any longer. */
async function untilSent(
  count: number,
  over: Promise<void>,
  send: (count: number, left: number, round: number) => Promise<Map<string, Fate | 'failed'>>,
): Promise<Map<string, Fate>> {
  const fates = new Map<string, Fate>()
  const end = Date.now() + PATIENCE_MS
  for (let round = 0; fates.size < count && Date.now() < end; round += 1) {
    for (const [id, fate] of await send(count, count - fates.size, round))
      if (fate !== 'failed') fates.set(id, fate)
    await pause(1_000)
  }
  await over
  const unknown = [...fates.values()].filter((fate) => fate === 'unknown').length
  if (fates.size < count) throw new Error(`${count - fates.size} messages were never sent`)
  if (unknown > 3 * MOST_IN_FLIGHT) throw new Error(`${unknown} messages are unknown`)
  return fates
}
