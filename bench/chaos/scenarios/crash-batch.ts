import { checkMessages } from '../checks.ts'
import type { StoreWrite } from '../dying-store.ts'
import { sendEmails } from '../events.ts'
import { type CrashOptions, countSteps, deliverAndKill, nameOf, pointsOf } from '../kill-points.ts'
import { type Findings, onBothStores, type Scenario, type World } from '../run.ts'

const PEOPLE = 1_203
const IN_A_CALL = 500

export const crashBatch: Scenario = {
  name: 'crash-batch',
  shows: 'kill -9 at every step of a batch of 1,203 mails: nothing twice, nothing silently missing',
  run: (options) =>
    onBothStores(options.random, (world, random) => crashBatches(world, { ...options, random })),
}

export async function crashBatches(
  world: World,
  { seeds, random, say, points }: CrashOptions,
): Promise<Findings> {
  const { sender, storeWrites } = world
  const violations: string[] = []
  const steps = await countSteps(world, sendEmails('batch_first', PEOPLE))
  const MOST_UNKNOWN = 'calls unknown after one crash, at most'
  const figures = {
    steps: steps.text,
    crashes: 0,
    messages: 0,
    sent: 0,
    unknown: 0,
    'unknown though never accepted': 0,
    [MOST_UNKNOWN]: 0,
  }

  for (const [number, point] of (points ?? pointsOf(steps, seeds, random)).entries()) {
    const id = `batch_${number}`
    const at = `${id} killed ${nameOf(point)}`
    storeWrites.length = 0
    if (await deliverAndKill(world, sendEmails(id, PEOPLE), point)) figures.crashes += 1
    const { status, body } = await sender.untilFinal(sendEmails(id, PEOPLE))
    const inFlight = callsInFlight(storeWrites)
    const messages = checkMessages(world, id, body)
    if (status !== 200 || messages.length !== PEOPLE) {
      violations.push(`${at}: ${status} with ${messages.length} results`)
      continue
    }
    let unknown = 0
    for (const { status, sent, violation } of messages) {
      if (violation) violations.push(`${at}: ${violation}`)
      figures.messages += 1
      if (status === 'sent') figures.sent += 1
      if (status !== 'unknown') continue
      unknown += 1
      if (sent === 0) figures['unknown though never accepted'] += 1
    }
    figures.unknown += unknown
    figures[MOST_UNKNOWN] = Math.max(figures[MOST_UNKNOWN], Math.ceil(unknown / IN_A_CALL))
    if (unknown > inFlight * IN_A_CALL)
      violations.push(`${at}: ${unknown} messages are unknown, but ${inFlight} calls were in flight`)
    if (number % 100 === 99) say(`${number + 1} crashes, ${violations.length} violations`)
  }
  return { figures, violations }
}

/** How many calls had begun when the host died or lost its lease, and had no recorded result. */
function callsInFlight(writes: readonly StoreWrite[]): number {
  const inFlight = new Map<string, 'begins' | 'begun'>()
  for (const { phase, accepted, calls = {} } of writes) {
    for (const [call, state] of Object.entries(calls)) {
      if (phase === 'begins') {
        if (!inFlight.has(call)) inFlight.set(call, 'begins')
      } else if (accepted && (state === 'taken back' || inFlight.get(call) === 'begun')) inFlight.delete(call)
      else inFlight.set(call, 'begun')
    }
  }
  return inFlight.size
}
