import { ConnectionCut } from '../../packages/core/src/testing/index.ts'
import type { HostProcess } from './host-process.ts'
import type { Random } from './random.ts'
import type { Arrangement } from './run.ts'
import type { Delivery } from './sender.ts'

/** A moment at which a host is killed. */
export type KillPoint =
  /** At the n-th write to its store. */
  | { at: 'store'; number: number; when: 'before' | 'after' }
  /** At the n-th call that it makes: which is lost, or takes effect all the same, or has had it. */
  | { at: 'call'; number: number; when: 'lost' | 'before' | 'after' }
  /** So long after the delivery left. */
  | { at: 'moment'; milliseconds: number }

export const nameOf = (point: KillPoint): string =>
  point.at === 'moment' ? `after ${point.milliseconds} ms` : `${point.when} ${point.at} ${point.number}`

/** How many steps an event takes that nothing disturbs. */
export async function countSteps(
  arrangement: Arrangement,
  delivery: Delivery,
): Promise<{ writes: number; calls: number; milliseconds: number }> {
  let calls = 0
  arrangement.storeWrites.length = 0
  arrangement.atStep = ({ when }) => {
    if (when === 'before') calls += 1
  }
  const began = performance.now()
  const answer = await arrangement.sender.untilAnswered(delivery)
  arrangement.atStep = () => {}
  if (answer.status !== 200) throw new Error(`${delivery.id}: ${JSON.stringify(answer.body)}`)
  const writes = arrangement.storeWrites.filter(({ phase }) => phase === 'begins').length
  return { writes, calls, milliseconds: performance.now() - began }
}

/** Each step of an event `seeds` times, and as many random moments. */
export function pointsOf(
  { writes, calls, milliseconds }: { writes: number; calls: number; milliseconds: number },
  seeds: number,
  random: Random,
): KillPoint[] {
  const numbers = (count: number) => Array.from({ length: count }, (_, index) => index + 1)
  return Array.from({ length: seeds }, () => [
    ...numbers(writes).map(
      (number): KillPoint => ({ at: 'store', number, when: random.pick(['before', 'after']) }),
    ),
    ...numbers(calls).map(
      (number): KillPoint => ({ at: 'call', number, when: random.pick(['lost', 'before', 'after']) }),
    ),
    { at: 'moment', milliseconds: random.below(Math.ceil(milliseconds * 1.2)) } satisfies KillPoint,
  ]).flat()
}

/**
 * Delivers an event to a host that dies on the way, and starts the host anew.
 *
 * @returns whether it died: an event may be over before its moment comes
 */
export async function deliverAndKill(
  arrangement: Arrangement,
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
    arrangement.atStep = ({ when }) => {
      if (when === 'before') calls += 1
      if (calls !== point.number || (when === 'after') !== (point.when === 'after') || !host.alive) return
      host.kill()
      if (point.when === 'lost') throw new ConnectionCut()
    }
  }
  const { status } = await arrangement.sender.once(delivery, arrangement.hosts.indexOf(host))
  clearTimeout(timer)
  arrangement.atStep = () => {}
  const died = status === 0
  if (!died) host.kill()
  await host.exited()
  await host.restart()
  return died
}
