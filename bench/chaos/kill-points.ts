import { ConnectionCut } from '../../packages/core/src/testing/index.ts'
import type { Delivery } from './events.ts'
import type { Random } from './random.ts'
import type { ScenarioOptions, World } from './run.ts'

export type KillPoint =
  | { at: 'store'; number: number; when: 'before' | 'after' }
  /** At its n-th call: before it arrives, before it takes effect or after. */
  | { at: 'call'; number: number; when: 'lost' | 'before' | 'after' }
  | { at: 'moment'; milliseconds: number }

/** The options of a scenario that kills a host at every point, or at these. */
export type CrashOptions = Pick<ScenarioOptions, 'seeds' | 'random' | 'say'> & {
  points?: readonly KillPoint[]
}

export const nameOf = (point: KillPoint): string =>
  point.at === 'moment' ? `after ${point.milliseconds} ms` : `${point.when} ${point.at} ${point.number}`

export const numbersTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1)

export async function countSteps(world: World, delivery: Delivery) {
  let calls = 0
  world.storeWrites.length = 0
  world.atStep = ({ when }) => {
    if (when === 'before') calls += 1
  }
  const began = performance.now()
  const { status, body } = await world.sender.untilFinal(delivery)
  world.atStep = () => {}
  if (status !== 200) throw new Error(`${delivery.id}: ${JSON.stringify(body)}`)
  const writes = world.storeWrites.filter(({ phase }) => phase === 'begins').length
  return { writes, calls, milliseconds: performance.now() - began, text: `${writes} writes, ${calls} calls` }
}

/** Each step of an event `seeds` times, and `seeds` random moments. */
export function pointsOf(
  { writes, calls, milliseconds }: Awaited<ReturnType<typeof countSteps>>,
  seeds: number,
  random: Random,
): KillPoint[] {
  return numbersTo(seeds).flatMap((): KillPoint[] => [
    ...numbersTo(writes).map(
      (number): KillPoint => ({ at: 'store', number, when: random.pick(['before', 'after']) }),
    ),
    ...numbersTo(calls).map(
      (number): KillPoint => ({ at: 'call', number, when: random.pick(['lost', 'before', 'after']) }),
    ),
    { at: 'moment', milliseconds: random.below(Math.ceil(milliseconds * 1.2)) },
  ])
}

/** Runs `act` at the n-th call from now on, before or after it takes effect. */
export function atCall(world: World, number: number, when: 'before' | 'after', act: () => void): void {
  let calls = 0
  world.atStep = (step) => {
    if (step.when === 'before') calls += 1
    if (calls !== number || step.when !== when) return
    world.atStep = () => {}
    act()
  }
}

/**
 * Delivers an event to the only host, which is killed at a point, and starts the host again.
 *
 * @returns whether the host died during the event, which may end before the point
 */
export async function deliverAndKill(world: World, delivery: Delivery, point: KillPoint): Promise<boolean> {
  const [host] = world.hosts
  if (!host) throw new Error('There is no host.')
  let timer: ReturnType<typeof setTimeout> | undefined
  if (point.at === 'store')
    await host.signalAtWrite({ write: point.number, when: point.when, signal: 'SIGKILL' })
  if (point.at === 'moment') timer = setTimeout(host.kill, point.milliseconds)
  if (point.at === 'call')
    atCall(world, point.number, point.when === 'after' ? 'after' : 'before', () => {
      host.kill()
      if (point.when === 'lost') throw new ConnectionCut()
    })
  world.claims.length = 0
  const { status } = await world.sender.once(delivery, 0)
  clearTimeout(timer)
  world.atStep = () => {}
  host.kill()
  await host.process.exit
  await host.restart()
  await host.endLeases(world.claims)
  return status === 0
}
