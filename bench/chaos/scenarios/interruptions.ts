/** A host is killed or halted at every step of an event, and the event is delivered again. */
import { readConfig } from '../../../apps/server/src/host.ts'
import { openStore } from '../../../apps/server/src/stores/open.ts'
import { ConnectionCut } from '../../../packages/core/src/testing/index.ts'
import { pause, until } from '../../shared/clock.ts'
import { checkMessages, checkPublished, count, type Findings, quote, timesSent, unless } from '../checks.ts'
import { created, type Delivery, deleted, sendEmail, sendEmails } from '../events.ts'
import type { Scenario } from '../scenario.ts'
import type { Received } from '../sender.ts'
import { arranged, type HostProcess, type Step, type World } from '../world.ts'

const PEOPLE = 1_203
const IN_A_CALL = 500
/** Of the host that halts. The other one must not lose its lease on a busy machine. */
const HALTING_LEASE_MS = 2_000

/** Where a host is killed or halted: at the n-th step of an event. What is lost never arrives. */
interface Point {
  number: number
  when: 'lost' | 'before' | 'after'
}

type When = Point['when']

export const kill: Scenario = {
  name: 'kill',
  shows: `kill -9 at every step of a creation, a deletion and a batch of ${PEOPLE} mails, on SQLite and Redis`,
  atATime: 2,
  cases({ seeds }) {
    const whens: When[] = ['lost', 'before', 'after']
    // Three seeds kill it before, during and after each step.
    const whensAt = (_: string, at: number) =>
      seeds.map((seed) => whens[(at + seed) % whens.length] ?? 'lost')
    const runOn = (store: 'sqlite' | 'redis') => (found: Findings) =>
      arranged({ store, hosts: [{}], watchesStore: true }, (world) =>
        interruptEverywhere(world, found, ['creation', 'deletion', 'batch'], whensAt, killAt),
      )
    return { SQLite: runOn('sqlite'), Redis: runOn('redis') }
  },
}

export const pausedHolder: Scenario = {
  name: 'pause',
  shows:
    'SIGSTOP at every step until the lease is over, another host takes over, SIGCONT: nothing late arrives',
  atATime: 1,
  cases({ seeds }) {
    // A call that is halted has taken effect, and its response waits in the socket.
    const whensAt = (to: string) =>
      seeds.flatMap((): When[] => (to === 'store' ? ['before', 'after'] : ['after']))
    const hosts = [{ CHAOS_LEASE_MS: String(HALTING_LEASE_MS) }, {}]
    return {
      Redis: (found) =>
        arranged({ store: 'redis', hosts, watchesStore: true }, (world) =>
          interruptEverywhere(world, found, ['creation', 'mail'], whensAt, pauseAt),
        ),
    }
  },
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
  check(id: string, outcome: Outcome): string[] | Promise<string[]>
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
      ...unless(received.body.status === 'stopped', `the deletion got ${quote(received)}`),
      ...unless(left === foreign, `the applications ${left} are left`),
    ]
  }
  return {
    creation: {
      prepare,
      event: (id) => created(id, NAME),
      async check(id, { received }) {
        const made = journal.applications.size - madeBefore
        return [
          ...unless(received.status === 200, `the creation got ${quote(received)}`),
          ...unless(made === 1, `${made} applications were made`),
          ...checkPublished(world, id),
          ...checkDeletion(await sender.untilFinal(deleted(id))),
        ]
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
        return unless(sent === 1 || (sent === 0 && isUnknown), `sent ${sent} times: ${quote(received)}`)
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
        const surplus = `${unknown.length} messages are unknown, but ${inFlight} calls were in flight`
        return [
          ...messages.flatMap(({ violation }) => violation ?? []),
          ...unless(unknown.length <= inFlight * IN_A_CALL, surplus),
        ]
      },
    },
  } satisfies Record<string, Subject>
}

/** Delivers each event once as it is, and once for each point at which `interrupt` interrupts it. */
async function interruptEverywhere(
  world: World,
  found: Findings,
  names: readonly (keyof ReturnType<typeof subjectsOf>)[],
  whensAt: (to: string, at: number) => When[],
  interrupt: (world: World, delivery: Delivery, point: Point) => Promise<Outcome>,
): Promise<void> {
  const subjects = subjectsOf(world, found)
  for (const name of names) {
    const { prepare, event, check }: Subject = subjects[name]
    const steps: string[] = []
    let interrupted = 0
    async function work(id: string, end: (delivery: Delivery) => Promise<Outcome>): Promise<void> {
      await prepare?.(id)
      const outcome = await end(event(id))
      // The event may have ended before the point.
      interrupted += Number(outcome.isInterrupted)
      const violations = [...(outcome.violations ?? []), ...(await check(id, outcome))]
      found.violations.push(...violations.map((each) => `${id}: ${each}`))
    }
    await work(`${name}_first`, async (delivery) => {
      world.atStep = ({ to, when }) => {
        if (when === 'before') steps.push(to)
      }
      const received = await world.sender.untilFinal(delivery)
      world.atStep = () => {}
      return { received, isInterrupted: false }
    })
    const points = steps.flatMap((to, at) => whensAt(to, at).map((when) => ({ number: at + 1, when })))
    for (const [index, point] of points.entries())
      await work(`${name}_${index}_${point.when}_${point.number}`, (delivery) =>
        interrupt(world, delivery, point),
      )
    found.figures[`${name}: steps`] = steps.join(' ')
    found.figures[`${name}: interrupted`] = interrupted
    found.violations.push(...unless(interrupted > 0, `${name}: the host was never interrupted`))
  }
}

/**
 * Sends a signal to a host at a point of the next event.
 *
 * @param onStep sees the steps until then
 * @returns a function that tells whether the signal was sent
 */
function signalAt(
  world: World,
  host: HostProcess | undefined,
  point: Point,
  signal: NodeJS.Signals,
  onStep: (step: Step) => void = () => {},
): () => boolean {
  let isSent = false
  world.steps = 0
  world.atStep = (step) => {
    onStep(step)
    if (step.number !== point.number || (step.when === 'after') !== (point.when === 'after')) return
    world.atStep = () => {}
    isSent = host?.process.child.kill(signal) ?? false
    if (point.when === 'lost') throw new ConnectionCut()
  }
  return () => isSent
}

/** Kills the only host at a point, starts it again, and delivers the event again. */
async function killAt(world: World, delivery: Delivery, point: Point): Promise<Outcome> {
  const { sender, hosts, variables } = world
  const [host] = hosts
  /** The subjects of the claims, by owner. */
  const claims = new Map<string, string>()
  // The first write of a call is its intent, the second one its result, or takes the intent back.
  const writes = new Map<string, number>()
  signalAt(world, host, point, 'SIGKILL', ({ path, claim, when }) => {
    if (claim) claims.set(claim.owner, path)
    for (const name of claim?.recorded ?? [])
      if (name.startsWith('call ')) writes.set(name, (writes.get(name) ?? 0) + Number(when === 'after'))
  })
  const { status } = await sender.once(delivery, 0)
  world.atStep = () => {}
  await host?.process.kill()
  await host?.restart()

  // The leases of the host that died, so that nobody waits for them.
  const { store, close } = await openStore(readConfig(variables), () => {})
  await until('the store is connected', () => store.probe().then(() => true))
  for (const [owner, subject] of claims) {
    const record = await store.read(subject)
    if (record) await store.renew({ subject, owner, fence: record.fence }, 1)
  }
  await close()
  const inFlight = [...writes.values()].filter((count) => count < 2).length
  return { received: await sender.untilFinal(delivery), isInterrupted: status === 0, inFlight }
}

/** Halts a host at a point until another one has taken over, and lists the calls that it makes late. */
async function pauseAt(world: World, delivery: Delivery, point: Point): Promise<Outcome> {
  const { sender, hosts } = world
  const [holder] = hosts
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
  holder?.process.child.kill('SIGCONT')
  const { replayed } = await first
  await pause(100)
  world.atStep = () => {}
  // It was halted before its claim, found the other's response, and reported the status again, as a replay does.
  const isReplay = (call: string) => replayed && /^PUT platform.*status$/.test(call)
  const violations = late.flatMap((call) => (isReplay(call) ? [] : [`${call} came late`]))
  return { received, isInterrupted: !received.replayed, violations }
}
