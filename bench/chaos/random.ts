/** Pseudorandom numbers: the same seed gives the same numbers, so that a run can be repeated. */
export interface Random {
  next(): number
  /** A whole number from 0 to below `below`. */
  below(below: number): number
  pick<Item>(items: readonly [Item, ...Item[]]): Item
  /** A generator of its own, which the draws of other parts do not change. */
  fork(name: string | number): Random
}

export function createRandom(seed: number): Random {
  let state = seed >>> 0
  function next(): number {
    state = (state + 0x6d_2b_79_f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  const below = (limit: number) => Math.floor(next() * limit)
  return {
    next,
    below,
    pick: (items) => items[below(items.length)] ?? items[0],
    fork(name) {
      let hash = seed
      for (const character of String(name)) hash = Math.imul(hash ^ character.charCodeAt(0), 16_777_619)
      return createRandom(hash)
    },
  }
}
