import { timesSent } from '../checks.ts'
import type { StoreWrite } from '../dying-store.ts'
import { addressOf, sendEmails } from '../events.ts'
import { countSteps, deliverAndKill, type KillPoint, nameOf, pointsOf } from '../kill-points.ts'
import { type Arrangement, arranged, type Findings, type ScenarioOptions } from '../run.ts'
import { isRecord } from '../sender.ts'

const PEOPLE = 1_203
const IN_A_CALL = 500

/** A host that is killed at every step of a batch. */
export const crashBatch = {
  name: 'crash-batch',
  shows: 'kill -9 at every step of a batch of 1,203 mails: nothing twice, nothing silently missing',
  async run({ random, seeds, say }: ScenarioOptions): Promise<Findings> {
    const figures: Findings['figures'] = {}
    const violations: string[] = []
    const runs = (['sqlite', 'redis'] as const).map((store) =>
      arranged({ store, hosts: 1, random: random.fork(store), leaseMs: 1_000 }, async (arrangement) => {
        const found = await crashBatches(arrangement, { seeds, random: random.fork(store), say })
        violations.push(...found.violations.map((violation) => `${store}: ${violation}`))
        for (const [what, figure] of Object.entries(found.figures)) figures[`${store} ${what}`] = figure
      }),
    )
    await Promise.all(runs)
    return { figures, violations }
  },
}

type CrashOptions = Pick<ScenarioOptions, 'seeds' | 'random' | 'say'> & { points?: readonly KillPoint[] }

/** Kills the host of an arrangement at every step of a batch, and looks at what became of each message. */
export async function crashBatches(
  arrangement: Arrangement,
  { seeds, random, say, points }: CrashOptions,
): Promise<Findings> {
  const { sender, storeWrites, hosts } = arrangement
  const [host] = hosts
  if (!host) throw new Error('There is no host.')
  const violations: string[] = []
  const steps = await countSteps(arrangement, sendEmails('batch_first', PEOPLE))
  const figures = {
    steps: `${steps.writes} writes, ${steps.calls} calls`,
    crashes: 0,
    messages: 0,
    sent: 0,
    unknown: 0,
    'unknown though never accepted': 0,
    'calls unknown after one crash, at most': 0,
  }

  for (const [number, point] of (points ?? pointsOf(steps, seeds, random)).entries()) {
    const id = `batch_${number}`
    const at = `${id} killed ${nameOf(point)}`
    storeWrites.length = 0
    if (await deliverAndKill(arrangement, host, sendEmails(id, PEOPLE), point)) figures.crashes += 1
    const inFlight = callsInFlight(storeWrites)
    const { status, body } = await sender.untilAnswered(sendEmails(id, PEOPLE))
    const results = isRecord(body.result) && Array.isArray(body.result.results) ? body.result.results : []
    if (status !== 200 || results.length !== PEOPLE) {
      violations.push(`${at}: ${status} with ${results.length} results`)
      continue
    }
    const times = timesSent(arrangement)
    const unknownCalls = new Set<string>()
    for (const [index, result] of results.entries()) {
      const sent = times.get(addressOf(`${id}.${index}`)) ?? 0
      const state = `message ${index} is ${result.status}, and was sent ${sent} times`
      const fits =
        result.status === 'sent' ? sent === 1 : result.status === 'unknown' ? sent <= 1 : sent === 0
      if (!fits) violations.push(`${at}: ${state}`)
      figures.messages += 1
      if (result.status === 'sent') figures.sent += 1
      if (result.status !== 'unknown') continue
      figures.unknown += 1
      if (sent === 0) figures['unknown though never accepted'] += 1
      const call = `call ${Math.floor(index / IN_A_CALL)}`
      unknownCalls.add(call)
      if (!inFlight.has(call)) violations.push(`${at}: ${state}, and its call was not in flight`)
    }
    figures['calls unknown after one crash, at most'] = Math.max(
      figures['calls unknown after one crash, at most'],
      unknownCalls.size,
    )
    if (number % 100 === 99) say(`${number + 1} crashes, ${violations.length} violations`)
  }
  return { figures, violations }
}

/** The calls that had begun when the host died, and whose answer was not certainly written down. */
function callsInFlight(writes: readonly StoreWrite[]): Set<string> {
  const begun = new Set<string>()
  for (const { phase, taken, calls = {} } of writes) {
    for (const [call, state] of Object.entries(calls)) {
      if (state === 'begun') begun.add(call)
      else if (phase === 'done' && taken === 'true') begun.delete(call)
    }
  }
  return begun
}
