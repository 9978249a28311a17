import { checkPublished, sentTwice, timesSent } from '../checks.ts'
import { pause, until } from '../clock.ts'
import { created, type Delivery, deleted, sendEmail } from '../events.ts'
import { countSteps, nameOf, numbersTo, type Point, signalAt } from '../points.ts'
import { arranged, type Findings, type Scenario, type World } from '../run.ts'

/** Of the host that halts. The other one must not lose its lease on a busy machine. */
const HALTING_LEASE_MS = 2_000

export const pausedHolder: Scenario = {
  name: 'pause',
  shows:
    'SIGSTOP at every step until the lease is over, another host takes over, SIGCONT: nothing late arrives',
  run: ({ seeds }) =>
    arranged({ store: 'redis', hosts: 2, firstLeaseMs: HALTING_LEASE_MS }, (world) =>
      pauseEverywhere(world, Math.max(1, Math.round(seeds / 4))),
    ),
}

/** Every step of an event. A call has taken effect, and its response waits in the socket. */
const pointsOf = ({ writes, calls }: { writes: number; calls: number }): Point[] => [
  ...numbersTo(writes).flatMap((number): Point[] => [
    { at: 'store', number, when: 'before' },
    { at: 'store', number, when: 'after' },
  ]),
  ...numbersTo(calls).map((number): Point => ({ at: 'call', number, when: 'after' })),
]

async function pauseEverywhere(world: World, rounds: number): Promise<Findings> {
  const { sender, journal, platform, idp } = world
  const violations: string[] = []
  const figures = { pauses: 0, 'taken over': 0, 'late calls': 0, outcome_unknown: 0 }
  async function pauseDuring(delivery: Delivery, point: Point) {
    const { late, last } = await pauseAt(world, delivery, point)
    figures.pauses += 1
    figures['late calls'] += late.length
    if (!last.replayed) figures['taken over'] += 1
    for (const call of late) violations.push(`${delivery.id}: ${call} came late`)
    return last.body.code
  }

  platform.addDeployment({ id: 'dep' })
  const creations = pointsOf(await countSteps(world, created('dep', 'dep')))
  await sender.untilFinal(deleted('dep'))
  const sends = pointsOf(await countSteps(world, sendEmail('mail')))
  for (let round = 0; round < rounds; round += 1) {
    const idOf = (kind: string, point: Point) => `${kind}_${round}_${nameOf(point)}`.replaceAll(' ', '_')
    for (const point of creations) {
      const deployment = idOf('dep', point)
      platform.addDeployment({ id: deployment })
      const before = journal.applications.size
      await pauseDuring(created(deployment, deployment), point)
      const made = journal.applications.size - before
      if (made !== 1) violations.push(`${deployment}: ${made} applications were made`)
      violations.push(...checkPublished(world, deployment))
      await sender.untilFinal(deleted(deployment))
      if (idp.applications.size > 0) violations.push(`${deployment}: its application is left`)
    }
    for (const point of sends) {
      const id = idOf('mail', point)
      const code = await pauseDuring(sendEmail(id), point)
      const sent = timesSent(world, id)
      if (code === 'outcome_unknown') figures.outcome_unknown += 1
      else if (sent !== 1) violations.push(`${id}: sent ${sent} times`)
    }
  }
  if (figures['taken over'] === 0) violations.push('no host took over')
  violations.push(...sentTwice(world))
  return { figures, violations }
}

/** Resolves with the calls with an effect that the holder made after it woke, and the other host's last response. */
async function pauseAt(world: World, delivery: Delivery, point: Point) {
  const { sender, hosts } = world
  const [holder] = hosts
  if (!holder) throw new Error('There is no host.')
  await signalAt(world, holder, point, 'SIGSTOP')
  const first = sender.once(delivery, 0)
  let isOver = false
  first.finally(() => {
    isOver = true
  })
  await until('the holder stops', () => isOver || holder.stopped, 60_000)
  await pause(HALTING_LEASE_MS)
  const began = Date.now()
  let last = await sender.once(delivery, 1)
  while (last.status !== 200 && last.body.retryable !== false && Date.now() - began < 60_000) {
    await pause(50)
    last = await sender.once(delivery, 1)
  }

  const late: string[] = []
  world.atStep = ({ to, method, path, when }) => {
    if (when === 'before' && method !== 'GET') late.push(`${method} ${to}${path}`)
  }
  holder.resume()
  const { replayed } = await first
  await pause(100)
  world.atStep = () => {}
  // The event may have ended before the point: no later one stops there.
  await holder.signalAtWrite({ write: 0, when: 'before', signal: 'SIGSTOP' })
  // It was halted before its claim, found the other's response, and reported the status again, as a replay does.
  return { late: replayed ? late.filter((call) => !/^PUT platform.*status$/.test(call)) : late, last }
}
