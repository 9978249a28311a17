import { ConnectionCut } from '../../packages/core/src/testing/index.ts'
import type { Order } from './dying-store.ts'
import type { Delivery } from './events.ts'
import type { HostProcess } from './host-process.ts'
import type { World } from './run.ts'

/** Where a host is killed or halted: at its n-th write to the store, or at its n-th call. */
export type Point =
  | { at: 'store'; number: number; when: 'before' | 'after' }
  /** A call that is lost never arrives. */
  | { at: 'call'; number: number; when: 'lost' | 'before' | 'after' }

export const nameOf = ({ at, number, when }: Point) => `${when} ${at} ${number}`

export const numbersTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1)

/** Makes a host get a signal at a point, from now on. */
export async function signalAt(
  world: World,
  host: HostProcess,
  { at, number, when }: Point,
  signal: Order['signal'],
) {
  if (at === 'store') return host.signalAtWrite({ write: number, when, signal })
  let calls = 0
  world.atStep = (step) => {
    if (step.when === 'before') calls += 1
    if (calls !== number || (step.when === 'after') !== (when === 'after')) return
    world.atStep = () => {}
    host.process.child.kill(signal)
    if (when === 'lost') throw new ConnectionCut()
  }
}

/** Delivers an event that nothing interrupts, and counts its writes to the store and its calls. */
export async function countSteps(world: World, delivery: Delivery) {
  let calls = 0
  world.storeWrites.length = 0
  world.atStep = ({ when }) => {
    if (when === 'before') calls += 1
  }
  const received = await world.sender.untilFinal(delivery)
  world.atStep = () => {}
  return { received, calls, writes: world.storeWrites.filter(({ phase }) => phase === 'begins').length }
}
