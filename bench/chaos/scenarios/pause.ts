import { checkPublished, sentTwice } from '../checks.ts'
import { pause, until } from '../clock.ts'
import { addressOf, created, type Delivery, deleted, sendEmail } from '../events.ts'
import type { HostProcess } from '../host-process.ts'
import { arranged, type Findings, type Scenario, type World } from '../run.ts'

const LEASE_MS = 700

/** Where the holder of a lease is halted: at a write to its store, or at a call that it makes. */
type PausePoint = { at: 'store'; number: number; when: 'before' | 'after' } | { at: 'call'; number: number }

/** The holder of a lease is halted for twice the lease, and goes on. */
export const pausedHolder: Scenario = {
  name: 'pause',
  shows: 'SIGSTOP at every step for twice the lease, another host takes over, SIGCONT: nothing late arrives',
  run: ({ random, seeds }) =>
    arranged({ store: 'redis', hosts: 2, random, leaseMs: LEASE_MS, settleMs: LEASE_MS }, (world) =>
      pauseEverywhere(world, { rounds: Math.max(1, Math.round(seeds / 4)) }),
    ),
}

function pointsOf(writes: number, calls: number): readonly PausePoint[] {
  const numbers = (count: number) => Array.from({ length: count }, (_, index) => index + 1)
  return [
    ...numbers(writes).flatMap((number): PausePoint[] => [
      { at: 'store', number, when: 'before' },
      { at: 'store', number, when: 'after' },
    ]),
    ...numbers(calls).map((number): PausePoint => ({ at: 'call', number })),
  ]
}

interface PauseOptions {
  rounds: number
  creations?: readonly PausePoint[]
  sends?: readonly PausePoint[]
}

/** Halts one host at every point, while the other takes over. */
export async function pauseEverywhere(
  world: World,
  { rounds, creations = pointsOf(6, 7), sends = pointsOf(2, 1) }: PauseOptions,
): Promise<Findings> {
  const { sender, journal, platform, idp } = world
  const violations: string[] = []
  const figures = { pauses: 0, 'taken over': 0, 'late calls': 0, outcome_unknown: 0 }
  async function pauseDuring(delivery: Delivery, point: PausePoint): Promise<Paused> {
    const paused = await pauseAt(world, delivery, point)
    figures.pauses += 1
    figures['late calls'] += paused.late.length
    if (paused.takenOver) figures['taken over'] += 1
    for (const call of paused.late) violations.push(`${delivery.id}: ${call} came late`)
    return paused
  }

  for (let round = 0; round < rounds; round += 1) {
    const nameOf = (point: PausePoint) => `${round}_${Object.values(point).join('_')}`
    for (const point of creations) {
      const deployment = `dep_${nameOf(point)}`
      platform.addDeployment({ id: deployment })
      const before = journal.of('application created').length
      await pauseDuring(created(deployment, deployment), point)
      const made = journal.of('application created').length - before
      if (made !== 1) violations.push(`${deployment}: ${made} applications were made`)
      violations.push(...checkPublished(world, deployment))
      await sender.untilAnswered(deleted(deployment))
      if (idp.applications.size > 0) violations.push(`${deployment}: its application is left`)
    }
    for (const point of sends) {
      const id = `mail_${nameOf(point)}`
      const { code } = await pauseDuring(sendEmail(id), point)
      const sent = journal.timesSent.get(addressOf(id)) ?? 0
      if (code === 'outcome_unknown') figures.outcome_unknown += 1
      else if (sent !== 1) violations.push(`${id}: sent ${sent} times`)
    }
  }
  violations.push(...sentTwice(world))
  return { figures, violations }
}

interface Paused {
  /** Calls with an effect that the holder made after it woke. */
  late: string[]
  takenOver: boolean
  code: unknown
}

async function pauseAt(world: World, delivery: Delivery, point: PausePoint): Promise<Paused> {
  const { sender, hosts } = world
  const [holder, other] = hosts
  if (!holder || !other) throw new Error('There are not two hosts.')
  const { reached } = await stopAt(world, holder, point)
  const first = sender.once(delivery, 0)
  await Promise.race([reached, first])
  await pause(LEASE_MS)
  const began = Date.now()
  let answer = await sender.once(delivery, 1)
  while (answer.status !== 200 && answer.body.retryable !== false && Date.now() - began < 20_000) {
    await pause(50)
    answer = await sender.once(delivery, 1)
  }
  await pause(LEASE_MS)

  const late: string[] = []
  world.atStep = ({ to, method, path, when }) => {
    if (when === 'before' && method !== 'GET') late.push(`${method} ${to}${path}`)
  }
  holder.resume()
  await first
  await pause(100)
  world.atStep = () => {}
  return { late, takenOver: !answer.replayed, code: answer.body.code }
}

/** Makes a holder stop at a point; `reached` resolves when it has stopped. */
async function stopAt(
  world: World,
  holder: HostProcess,
  point: PausePoint,
): Promise<{ reached: Promise<void> }> {
  if (point.at === 'store') {
    await holder.signalAtWrite({ write: point.number, when: point.when, signal: 'SIGSTOP' })
    return { reached: until('the holder stops', () => holder.stopped, 5_000).catch(() => {}) }
  }
  let calls = 0
  const reached = new Promise<void>((resolve) => {
    world.atStep = ({ when }) => {
      if (when === 'before') calls += 1
      if (when !== 'after' || calls !== point.number) return
      // The call has taken effect; its response waits in the socket.
      holder.pause()
      world.atStep = () => {}
      resolve()
    }
  })
  return { reached }
}
