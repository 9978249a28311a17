import type { Delivery } from './events.ts'
import type { World } from './run.ts'

/** Where a host is killed or halted: at its n-th write to the store, or at its n-th call. */
export type Point =
  | { at: 'store'; number: number; when: 'before' | 'after' }
  /** A call that is lost never arrives. */
  | { at: 'call'; number: number; when: 'lost' | 'before' | 'after' }

export const nameOf = ({ at, number, when }: Point) => `${when} ${at} ${number}`

export const numbersTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1)

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
