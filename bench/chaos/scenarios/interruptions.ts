/** A host is killed or halted at every step of an event, and the event is delivered again. */
import { readConfig } from '../../../apps/server/src/host.ts'
import { openStore } from '../../../apps/server/src/stores/open.ts'
import { ConnectionCut } from '../../../packages/core/src/testing/index.ts'
import { checkMessages, checkPublished, count, type Findings, quote, timesSent } from '../checks.ts'
import { pause, until } from '../clock.ts'
import { created, type Delivery, deleted, sendEmail, sendEmails } from '../events.ts'
import type { Scenario } from '../scenario.ts'
import type { Received } from '../sender.ts'
import { arranged, type HostProcess, type World } from '../world.ts'

const PEOPLE = 1_203
const IN_A_CALL = 500
/** Of the host that halts. The other one must not lose its lease on a busy machine. */
const HALTING_LEASE_MS = 2_000

export const kill: Scenario = {
  name: 'kill',
  shows: `kill -9 at every step of a creation, a deletion and a batch of ${PEOPLE} mails, on SQLite and Redis`,
  async run(found, { seeds }) {
    const whens = ['lost', 'before', 'after'] as const
    // Three seeds kill it before, during and after each step.
    const pointsOf = (steps: readonly string[]): Point[] =>
      Array.from({ length: seeds }, (_, seed) =>
        steps.map((_, index) => ({
          number: index + 1,
          when: whens[(index + seed) % whens.length] ?? 'lost',
        })),
      ).flat()
    const runOn = (store: 'sqlite' | 'redis') =>
      arranged({ store, hosts: [{}], watchesStore: true }, (world) =>
        interruptEverywhere(world, found, ['creation', 'deletion', 'batch'], pointsOf, killAt),
      )
    await Promise.all([runOn('sqlite'), runOn('redis')])
  },
}

export const pausedHolder: Scenario = {
  name: 'pause',
  shows:
    'SIGSTOP at every step until the lease is over, another host takes over, SIGCONT: nothing late arrives',
  run: (found, { seeds }) => {
    const rounds = Array<null>(Math.ceil(seeds / 4)).fill(null)
    // A call that is halted has taken effect, and its response waits in the socket.
    const pointsOf = (steps: readonly string[]): Point[] =>
      steps.flatMap((to, index) => {
        const whens = to === 'store' ? (['before', 'after'] as const) : (['after'] as const)
        return rounds.flatMap(() => whens.map((when) => ({ number: index + 1, when })))
      })
    const hosts = [{ CHAOS_LEASE_MS: String(HALTING_LEASE_MS) }, {}]
    return arranged({ store: 'redis', hosts, watchesStore: true }, (world) =>
      interruptEverywhere(world, found, ['creation', 'mail'], pointsOf, pauseAt),
    )
  },
}

/** Where a host is killed or halted: at the n-th step of an event. What is lost never arrives. */
interface Point {
  number: number
  when: 'lost' | 'before' | 'after'
}

/** The end of an event that was interrupted. */
interface Outcome {
  received: Received
  /** Whether the host was interrupted before it answered. */
  isInterrupted: boolean
  /** The calls of a batch that had begun, and had no recorded result. */
  inFlight?: number
  violations?: string[]
}

/** An event that is interrupted. */
interface Subject {
  prepare?(id: string): Promise<unknown>
  event(id: string): Delivery
  /** Checks the final response and all effects, and lists each violation. */
  check(id: string, outcome: Omit<Outcome, 'isInterrupted'>): string[] | Promise<string[]>
}

function subjectsOf(world: World, found: Findings) {
  const { platform, idp, journal, sender } = world
  const NAME = 'Shop'
  // An application of the same name, of another owner, which must stay.
  const foreign = idp.addApplication({ name: NAME }).applicationId
  journal.applications.add(foreign)
  let madeBefore = 0
  async function prepare(id: string): Promise<void> {
    platform.addDeployment({ id })
    madeBefore = journal.applications.size
  }
  function checkDeletion(received: Received): string[] {
    const left = [...idp.applications.keys()].join()
    return [
      ...(received.body.status === 'stopped' ? [] : [`the deletion got ${quote(received)}`]),
      ...(left === foreign ? [] : [`the applications ${left} are left`]),
    ]
  }
  return {
    creation: {
      prepare,
      event: (id) => created(id, NAME),
      async check(id, { received }) {
        const made = journal.applications.size - madeBefore
        const violations = [
          ...(received.status === 200 ? [] : [`the creation got ${quote(received)}`]),
          ...(made === 1 ? [] : [`${made} applications were made`]),
          ...checkPublished(world, id),
        ]
        return [...violations, ...checkDeletion(await sender.untilFinal(deleted(id)))]
      },
    },
    deletion: {
      prepare: (id) => prepare(id).then(() => sender.untilFinal(created(id, NAME))),
      event: deleted,
      check: (_, { received }) => checkDeletion(received),
    },
    mail: {
      event: sendEmail,
      check(id, { received }) {
        const isUnknown = received.body.code === 'outcome_unknown'
        count(found, 'outcome_unknown', Number(isUnknown))
        const sent = timesSent(world, id)
        return sent === 1 || (sent === 0 && isUnknown) ? [] : [`sent ${sent} times: ${quote(received)}`]
      },
    },
    batch: {
      event: (id) => sendEmails(id, PEOPLE),
      check(id, { received, inFlight = 0 }) {
        const messages = checkMessages(world, id, received.body)
        if (received.status !== 200 || messages.length !== PEOPLE)
          return [`${received.status} with ${messages.length} of ${PEOPLE} results`]
        const unknown = messages.filter(({ status }) => status === 'unknown')
        count(found, 'messages', PEOPLE)
        count(found, 'unknown messages', unknown.length)
        count(found, 'unknown though never accepted', unknown.filter(({ sent }) => sent === 0).length)
        const violations = messages.flatMap(({ violation }) => violation ?? [])
        if (unknown.length > inFlight * IN_A_CALL)
          violations.push(`${unknown.length} messages are unknown, but ${inFlight} calls were in flight`)
        return violations
      },
    },
  } satisfies Record<string, Subject>
}

/** Delivers each event once as it is, and once for each point at which `interrupt` interrupts it. */
async function interruptEverywhere(
  world: World,
  found: Findings,
  names: readonly (keyof ReturnType<typeof subjectsOf>)[],
  pointsOf: (steps: readonly string[]) => Point[],
  interrupt: (world: World, delivery: Delivery, point: Point) => Promise<Outcome>,
): Promise<void> {
  const subjects = subjectsOf(world, found)
  for (const name of names) {
    const { prepare, event, check }: Subject = subjects[name]
    const kind = `${name} on ${world.redis ? 'Redis' : 'SQLite'}`
    const steps: string[] = []
    const first = `${name}_first`
    await prepare?.(first)
    world.atStep = ({ to, when }) => {
      if (when === 'before') steps.push(to)
    }
    const received = await world.sender.untilFinal(event(first))
    world.atStep = () => {}
    const report = (id: string, violations: readonly string[]) =>
      found.violations.push(...violations.map((each) => `${kind}, ${id}: ${each}`))
    report(first, await check(first, { received }))
    found.figures[`${kind}: steps`] = steps.join(' ')
    found.figures[`${kind}: interrupted`] = 0
    for (const [index, point] of pointsOf(steps).entries()) {
      const id = `${name}_${index}_${point.when}_${point.number}`
      await prepare?.(id)
      const { isInterrupted, ...outcome } = await interrupt(world, event(id), point)
      // The event may have ended before the point.
      count(found, `${kind}: interrupted`, Number(isInterrupted))
      report(id, [...(outcome.violations ?? []), ...(await check(id, outcome))])
    }
    if (found.figures[`${kind}: interrupted`] === 0) report(name, ['the host was never interrupted'])
  }
}

/**
 * Sends a signal to a host at a point of the next event.
 *
 * @returns a function that tells whether the signal was sent
 */
function signalAt(world: World, host: HostProcess, point: Point, signal: NodeJS.Signals): () => boolean {
  let isSent = false
  world.steps = 0
  world.atStep = ({ number, when }) => {
    if (number !== point.number || (when === 'after') !== (point.when === 'after')) return
    world.atStep = () => {}
    host.process.child.kill(signal)
    isSent = true
    if (point.when === 'lost') throw new ConnectionCut()
  }
  return () => isSent
}

/** Kills the only host at a point, starts it again, and delivers the event again. */
async function killAt(world: World, delivery: Delivery, point: Point): Promise<Outcome> {
  const { sender, hosts, variables } = world
  const [host] = hosts
  if (!host) throw new Error('There is no host.')
  signalAt(world, host, point, 'SIGKILL')
  world.writes.length = 0
  const { status } = await sender.once(delivery, 0)
  world.atStep = () => {}
  host.process.child.kill('SIGKILL')
  await host.process.exit
  await host.restart()

  const writes = world.writes.splice(0)
  // The leases of the host that died, so that nobody waits for them.
  const { store, close } = await openStore(readConfig(variables), () => {})
  const isThere = () =>
    store.probe().then(
      () => true,
      () => false,
    )
  await until('the store is connected', isThere)
  for (const { subject, owner } of new Map(writes.map(({ lease }) => [lease.owner, lease])).values()) {
    const record = await store.read(subject)
    if (record) await store.renew({ subject, owner, fence: record.fence }, 1)
  }
  await close()
  // The first write of a call is its intent, the second one its result, or takes the intent back.
  const ofCalls = writes.flatMap(({ steps, when }) => steps.map((name) => ({ name, when })))
  const calls = Map.groupBy(
    ofCalls.filter(({ name }) => name.startsWith('call ')),
    ({ name }) => name,
  )
  const isInFlight = (call: { when: string }[]) => call.filter(({ when }) => when === 'after').length < 2
  const inFlight = [...calls.values()].filter(isInFlight).length
  return { received: await sender.untilFinal(delivery), isInterrupted: status === 0, inFlight }
}

/** Halts a host at a point until another one has taken over, and lists the calls that it makes late. */
async function pauseAt(world: World, delivery: Delivery, point: Point): Promise<Outcome> {
  const { sender, hosts } = world
  const [holder] = hosts
  if (!holder) throw new Error('There is no host.')
  const isHalted = signalAt(world, holder, point, 'SIGSTOP')
  let isOver = false
  const first = sender.once(delivery, 0).finally(() => {
    isOver = true
  })
  await until('the holder stops', () => isOver || isHalted(), 60_000)
  await pause(HALTING_LEASE_MS)
  const received = await sender.untilFinal(delivery, 60_000, 1)

  const late: string[] = []
  world.atStep = ({ to, method, path, when }) => {
    if (when === 'before' && to !== 'store' && method !== 'GET') late.push(`${method} ${to}${path}`)
  }
  holder.process.child.kill('SIGCONT')
  const { replayed } = await first
  await pause(100)
  world.atStep = () => {}
  // It was halted before its claim, found the other's response, and reported the status again, as a replay does.
  const isReplay = (call: string) => replayed && /^PUT platform.*status$/.test(call)
  const violations = late.flatMap((call) => (isReplay(call) ? [] : [`${call} came late`]))
  return { received, isInterrupted: !received.replayed, violations }
}
