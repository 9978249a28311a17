import { median } from '../mailer/statistics.ts'
import type { Samples } from './row.ts'

/** The middle of the rounds, with the least and the most. */
export interface Spread {
  median: number
  least: number
  most: number
}

/** Of the values of all rounds. */
export function spreadOf(values: readonly number[] = []): Spread {
  return { median: median(values), least: Math.min(...values), most: Math.max(...values) }
}

/**
 * One contender's values as multiples of another's, round by round: what a round of one met, the same round of
 * the other met too.
 *
 * @returns `undefined` where one of them was not run
 */
export function ratioOf(samples: Samples, id: string, against: string): Spread | undefined {
  const [values, others] = [samples[id], samples[against]]
  if (!values || !others) return undefined
  return spreadOf(values.map((value, round) => value / (others[round] ?? Number.NaN)))
}
