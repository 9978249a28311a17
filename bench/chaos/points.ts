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
