import { checkMessages, checkPublished, quote } from '../checks.ts'
import type { StoreWrite } from '../dying-store.ts'
import { created, type Delivery, deleted, sendEmails } from '../events.ts'
import { countSteps, nameOf, numbersTo, type Point, signalAt } from '../points.ts'
import { arranged, type Findings, joined, type Scenario, type World } from '../run.ts'
import type { Received } from '../sender.ts'

const PEOPLE = 1_203
const IN_A_CALL = 500
const whens = ['lost', 'before', 'after'] as const

export const kill: Scenario = {
  name: 'kill',
  shows: `kill -9 at every step of a creation, a deletion and a batch of ${PEOPLE} mails, on SQLite and Redis`,
  async run({ seeds }) {
    const runs = (['sqlite', 'redis'] as const).map(async (store) => {
      const findings = await arranged({ store, hosts: 1 }, async (world) => {
        const subjects = [...deploymentsOf(world), batchesOf(world)]
        const found: Record<string, Findings> = {}
        for (const subject of subjects) found[subject.name] = await killAtEveryStep(world, subject, seeds)
        return joined(found)
      })
      return [store, findings] as const
    })
    return joined(Object.fromEntries(await Promise.all(runs)))
  },
}

/** An event that a kill interrupts. */
interface Subject {
  name: string
  prepare?(id: string): Promise<void>
  event(id: string): Delivery
  /** Checks the final response and all effects, and lists each violation. */
  check(id: string, received: Received): Promise<string[]>
  figures: Findings['figures']
}

function deploymentsOf(world: World): Subject[] {
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
  async function checkDeletion({ status, body }: Received): Promise<string[]> {
    const left = [...idp.applications.keys()].join()
    return [
      ...(body.status === 'stopped' ? [] : [`the deletion got ${quote({ status, body })}`]),
      ...(left === foreign ? [] : [`the applications ${left} are left`]),
    ]
  }
  return [
    {
      name: 'creation',
      prepare,
      event: (id) => created(id, NAME),
      async check(id, received) {
        const made = journal.applications.size - madeBefore
        const violations = [
          ...(received.status === 200 ? [] : [`the creation got ${quote(received)}`]),
          ...(made === 1 ? [] : [`${made} applications were made`]),
          ...checkPublished(world, id),
        ]
        return [...violations, ...(await checkDeletion(await sender.untilFinal(deleted(id))))]
      },
      figures: {},
    },
    {
      name: 'deletion',
      async prepare(id) {
        await prepare(id)
        await sender.untilFinal(created(id, NAME))
      },
      event: (id) => deleted(id),
      check: (_, received) => checkDeletion(received),
      figures: {},
    },
  ]
}

function batchesOf(world: World): Subject {
  const figures = { messages: 0, sent: 0, unknown: 0, 'unknown though never accepted': 0 }
  return {
    name: 'batch',
    event: (id) => sendEmails(id, PEOPLE),
    async check(id, { status, body }) {
      const inFlight = callsInFlight(world.storeWrites)
      const messages = checkMessages(world, id, body)
      if (status !== 200 || messages.length !== PEOPLE)
        return [`${status} with ${messages.length} of ${PEOPLE} results`]
      const unknown = messages.filter((message) => message.status === 'unknown')
      figures.messages += messages.length
      figures.sent += messages.filter((message) => message.status === 'sent').length
      figures.unknown += unknown.length
      figures['unknown though never accepted'] += unknown.filter(({ sent }) => sent === 0).length
      const violations = messages.flatMap(({ violation }) => violation ?? [])
      return unknown.length > inFlight * IN_A_CALL
        ? [...violations, `${unknown.length} messages are unknown, but ${inFlight} calls were in flight`]
        : violations
    },
    figures,
  }
}

/** How many calls had begun when the host died, and had no recorded result. */
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

/**
 * Delivers an event, kills the host at one of its steps, and delivers it again: at every step, `seeds` times. Three
 * seeds kill it before, during and after each.
 */
async function killAtEveryStep(
  world: World,
  { name, prepare, event, check, figures }: Subject,
  seeds: number,
): Promise<Findings> {
  const { sender, storeWrites } = world
  const violations: string[] = []
  let crashes = 0
  await prepare?.(`${name}_first`)
  const { received, writes, calls } = await countSteps(world, event(`${name}_first`))
  violations.push(...(await check(`${name}_first`, received)))
  for (let seed = 0; seed < seeds; seed += 1) {
    const points = [
      ...numbersTo(writes).map(
        (number): Point => ({ at: 'store', number, when: (number + seed) % 2 ? 'before' : 'after' }),
      ),
      ...numbersTo(calls).map(
        (number): Point => ({ at: 'call', number, when: whens[(number + seed) % whens.length] ?? 'lost' }),
      ),
    ]
    for (const [index, point] of points.entries()) {
      const id = `${name}_${seed}_${index}`
      await prepare?.(id)
      storeWrites.length = 0
      if (await deliverAndKill(world, event(id), point)) crashes += 1
      const found = await check(id, await sender.untilFinal(event(id)))
      violations.push(...found.map((violation) => `${id}, killed ${nameOf(point)}: ${violation}`))
    }
  }
  if (crashes === 0) violations.push('the host was never killed')
  return {
    figures: { steps: `${writes} writes, ${calls} calls`, crashes, ...figures },
    violations,
  }
}

/**
 * Delivers an event to the only host, which is killed at a point, and starts the host again.
 *
 * @returns whether the host died during the event, which may end before the point
 */
async function deliverAndKill(world: World, delivery: Delivery, point: Point): Promise<boolean> {
  const [host] = world.hosts
  if (!host) throw new Error('There is no host.')
  await signalAt(world, host, point, 'SIGKILL')
  world.claims.length = 0
  const { status } = await world.sender.once(delivery, 0)
  world.atStep = () => {}
  host.kill()
  await host.process.exit
  await host.restart()
  await host.endLeases(world.claims)
  return status === 0
}
