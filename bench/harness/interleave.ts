import type { Random } from '../chaos/random.ts'
import type { Samples } from './row.ts'

/** How rounds are run. */
export interface InterleaveOptions<Values extends Record<string, number>> {
  ids: readonly string[]
  rounds: number
  random: Random
  progress: (line: string) => void
  /** Measures one contender once; the names of the values are the same each time. */
  measure: (id: string, round: number) => Promise<Values>
}

/**
 * Measures all contenders in each round, in an order of its own, so that whatever else the machine does in
 * these seconds befalls all of them.
 *
 * @returns the samples of each value
 */
export async function interleave<Values extends Record<string, number>>({
  ids,
  rounds,
  random,
  progress,
  measure,
}: InterleaveOptions<Values>): Promise<(value: keyof Values) => Samples> {
  const measured = new Map(ids.map((id): [string, Values[]] => [id, []]))
  for (let round = 0; round < rounds; round += 1) {
    progress(`round ${round + 1} of ${rounds}`)
    for (const id of shuffled(ids, random)) measured.get(id)?.push(await measure(id, round))
  }
  return (value) =>
    Object.fromEntries([...measured].map(([id, list]) => [id, list.map((values) => values[value])]))
}

function shuffled<Item>(items: readonly Item[], random: Random): Item[] {
  const order = [...items]
  for (let at = order.length - 1; at > 0; at -= 1) {
    const other = random.below(at + 1)
    const [one, two] = [order[at], order[other]]
    if (one === undefined || two === undefined) continue
    order[at] = two
    order[other] = one
  }
  return order
}
