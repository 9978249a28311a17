import { checkPublished, sentTwice } from '../checks.ts'
import { pause, until } from '../clock.ts'
import { addressOf, created, deleted, sendEmail } from '../events.ts'
import type { HostProcess } from '../host-process.ts'
import { type Arrangement, arranged, type Findings, type ScenarioOptions } from '../run.ts'
import type { Delivery } from '../sender.ts'

const LEASE_MS = 700

/** Where a holder is stopped: at a write to its store, or at a call that it makes. */
type PausePoint = { at: 'store'; number: number; when: 'before' | 'after' } | { at: 'call'; number: number }

/** A holder that is stopped for twice its lease, and goes on. */
export const pausedHolder = {
  name: 'pause',
  shows: 'SIGSTOP at every step for twice the lease, another host takes over, SIGCONT: nothing late arrives',
  run: ({ random, seeds }: ScenarioOptions) =>
    arranged({ store: 'redis', hosts: 2, random, leaseMs: LEASE_MS, settleMs: LEASE_MS }, (arrangement) =>
      pauseEverywhere(arrangement, { rounds: Math.max(1, Math.round(seeds / 4)) }),
    ),
}

const creationPoints: readonly PausePoint[] = [
  ...[1, 2, 3, 4, 5, 6].flatMap((number) =>
    (['before', 'after'] as const).map((when) => ({ at: 'store', number, when }) as const),
  ),
  ...[1, 2, 3, 4, 5, 6, 7].map((number) => ({ at: 'call', number }) as const),
]
const sendPoints: readonly PausePoint[] = [
  ...[1, 2].flatMap((number) =>
    (['before', 'after'] as const).map((when) => ({ at: 'store', number, when }) as const),
  ),
  { at: 'call', number: 1 },
]

/** Stops one host at every point, and lets the other take over. */
export async function pauseEverywhere(
  arrangement: Arrangement,
  { rounds, creations = creationPoints, sends = sendPoints }: PauseOptions,
): Promise<Findings> {
  const { sender, journal, platform, idp } = arrangement
  const violations: string[] = []
  const figures = {
    pauses: 0,
    'taken over': 0,
    'late calls': 0,
    outcome_unknown: 0,
  }
  const count = (paused: Paused) => {
    figures.pauses += 1
    figures['late calls'] += paused.late.length
    if (paused.takenOver) figures['taken over'] += 1
  }

  for (let round = 0; round < rounds; round += 1) {
    for (const point of creations) {
      const deployment = `dep_${round}_${point.at}_${point.number}_${'when' in point ? point.when : ''}`
      platform.addDeployment({ id: deployment })
      const before = journal.of('application created').length
      const paused = await pauseAt(arrangement, created(deployment, deployment), point)
      count(paused)
      const made = journal.of('application created').length - before
      if (made !== 1) violations.push(`${deployment}: ${made} applications were made`)
      for (const call of paused.late) violations.push(`${deployment}: ${call} came late`)
      violations.push(...checkPublished(arrangement, deployment))
      await sender.untilAnswered(deleted(deployment))
      if (idp.applications.size > 0) violations.push(`${deployment}: its application is left`)
    }
    for (const point of sends) {
      const id = `mail_${round}_${point.at}_${point.number}_${'when' in point ? point.when : ''}`
      const paused = await pauseAt(arrangement, sendEmail(id), point)
      count(paused)
      if (paused.code === 'outcome_unknown') figures.outcome_unknown += 1
      for (const call of paused.late) violations.push(`${id}: ${call} came late`)
      const sent = journal.of('mail accepted').filter(({ to }) => to === addressOf(id)).length
      if (paused.code !== 'outcome_unknown' && sent !== 1) violations.push(`${id}: sent ${sent} times`)
    }
  }
  violations.push(...sentTwice(arrangement))
  return { figures, violations }
}

interface PauseOptions {
  rounds: number
  creations?: readonly PausePoint[]
  sends?: readonly PausePoint[]
}

interface Paused {
  /** Calls that change something, made after the holder woke. */
  late: string[]
  takenOver: boolean
  code: unknown
}

async function pauseAt(arrangement: Arrangement, delivery: Delivery, point: PausePoint): Promise<Paused> {
  const { sender, hosts } = arrangement
  const [holder, other] = hosts
  if (!holder || !other) throw new Error('There are not two hosts.')
  const stopped = await stopAt(arrangement, holder, point)
  const first = sender.once(delivery, 0)
  await Promise.race([stopped.reached, first])
  await pause(LEASE_MS)
  const began = Date.now()
  let answer = await sender.once(delivery, 1)
  while (answer.status !== 200 && answer.body.retryable !== false && Date.now() - began < 20_000) {
    await pause(50)
    answer = await sender.once(delivery, 1)
  }
  await pause(LEASE_MS)

  const late: string[] = []
  arrangement.atStep = ({ to, method, path, when }) => {
    if (when === 'before' && method !== 'GET') late.push(`${method} ${to}${path}`)
  }
  holder.resume()
  await first
  await pause(100)
  arrangement.atStep = () => {}
  return { late, takenOver: !answer.replayed, code: answer.body.code }
}

/** Has a holder stop at a point. */
async function stopAt(
  arrangement: Arrangement,
  holder: HostProcess,
  point: PausePoint,
): Promise<{ reached: Promise<void> }> {
  if (point.at === 'store') {
    await holder.signalAtWrite({ write: point.number, when: point.when, signal: 'SIGSTOP' })
    return { reached: until('the holder has stopped', () => holder.stopped, 5_000).catch(() => {}) }
  }
  let calls = 0
  const reached = new Promise<void>((resolve) => {
    arrangement.atStep = ({ when }) => {
      if (when === 'before') calls += 1
      if (when !== 'after' || calls !== point.number) return
      // Its call has taken effect; the answer waits for it in the socket.
      holder.pause()
      arrangement.atStep = () => {}
      resolve()
    }
  })
  return { reached }
}
