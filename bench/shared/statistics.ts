/** The median of several rounds, with the least and the most. */
export interface Spread {
  median: number
  least: number
  most: number
}

/** The values of each contender, by its id, in the order of the rounds. */
export type Samples = Readonly<Record<string, readonly number[]>>

/** The value below which this share of the values lies; `NaN` if there are none. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5)
}

export function spreadOf(values: readonly number[] = []): Spread {
  return { median: median(values), least: Math.min(...values), most: Math.max(...values) }
}

/**
 * One contender's values as multiples of another's, round by round, because both meet the same disturbances in
 * one round.
 *
 * @returns `undefined` if one of them was not run
 */
export function ratioOf(samples: Samples, id: string, against: string): Spread | undefined {
  const [values, others] = [samples[id], samples[against]]
  if (!values || !others) return undefined
  return spreadOf(values.map((value, round) => value / (others[round] ?? Number.NaN)))
}
