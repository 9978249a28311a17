import { ConnectionCut } from '../../packages/core/src/testing/index.ts'
import type { Delivery } from './events.ts'
import type { HostProcess } from './host-process.ts'
import type { Random } from './random.ts'
import type { World } from './run.ts'

/** A moment at which a host is killed. */
export type KillPoint =
  /** At the n-th write to its store. */
  | { at: 'store'; number: number; when: 'before' | 'after' }
  /** At its n-th call: before it arrives, before it takes effect or after. */
  | { at: 'call'; number: number; when: 'lost' | 'before' | 'after' }
  /** A time after the delivery. */
  | { at: 'moment'; milliseconds: number }

export const nameOf = (point: KillPoint): string =>
  point.at === 'moment' ? `after ${point.milliseconds} ms` : `${point.when} ${point.at} ${point.number}`

/** The steps of an event. */
interface Steps {
  writes: number
  calls: number
  milliseconds: number
}

/** Counts the steps of an event that nothing disturbs. */
export async function countSteps(world: World, delivery: Delivery): Promise<Steps> {
  let calls = 0
  world.storeWrites.length = 0
  world.atStep = ({ when }) => {
    if (when === 'before') calls += 1
  }
  const began = performance.now()
  const answer = await world.sender.untilAnswered(delivery)
  world.atStep = () => {}
  if (answer.status !== 200) throw new Error(`${delivery.id}: ${JSON.stringify(answer.body)}`)
  const writes = world.storeWrites.filter(({ phase }) => phase === 'begins').length
  return { writes, calls, milliseconds: performance.now() - began }
}

/** Each step of an event `seeds` times, and `seeds` random moments. */
export function pointsOf({ writes, calls, milliseconds }: Steps, seeds: number, random: Random): KillPoint[] {
  const numbers = (count: number) => Array.from({ length: count }, (_, index) => index + 1)
  return Array.from({ length: seeds }, (): KillPoint[] => [
    ...numbers(writes).map(
      (number): KillPoint => ({ at: 'store', number, when: random.pick(['before', 'after']) }),
    ),
    ...numbers(calls).map(
      (number): KillPoint => ({ at: 'call', number, when: random.pick(['lost', 'before', 'after']) }),
    ),
    { at: 'moment', milliseconds: random.below(Math.ceil(milliseconds * 1.2)) },
  ]).flat()
}

/**
 * Delivers an event to a host that is killed at a point, and starts the host again.
 *
 * @returns whether the host died during the event, which may end before the point
 */
export async function deliverAndKill(
  world: World,
  host: HostProcess,
  delivery: Delivery,
  point: KillPoint,
): Promise<boolean> {
  let calls = 0
  let timer: ReturnType<typeof setTimeout> | undefined
  if (point.at === 'store')
    await host.signalAtWrite({ write: point.number, when: point.when, signal: 'SIGKILL' })
  if (point.at === 'moment') timer = setTimeout(() => host.kill(), point.milliseconds)
  if (point.at === 'call') {
    world.atStep = ({ when }) => {
      if (when === 'before') calls += 1
      const isThere = calls === point.number && (when === 'after') === (point.when === 'after')
      if (!isThere || !host.process.alive) return
      host.kill()
      if (point.when === 'lost') throw new ConnectionCut()
    }
  }
  const { status } = await world.sender.once(delivery, world.hosts.indexOf(host))
  clearTimeout(timer)
  world.atStep = () => {}
  host.kill()
  await host.process.exit
  await host.restart()
  return status === 0
}
