/**
 * What a row of the benchmark is, and what it hands back.
 *
 * @module
 */
import type { Random } from '../chaos/random.ts'
import type { Arrangement } from './arrangement.ts'

/** Something that is measured beside others. */
export interface Contender {
  /** Short, for `--against` and for profiles. */
  id: string
  title: string
  /**
   * Ours; a library that does the same; or a floor: the least that the same work can cost, with none of what a
   * library is for, or a part that such things are made of.
   */
  kind: 'ours' | 'peer' | 'floor'
}

/** What a row is measured with. */
export interface RowContext {
  arrangement: Arrangement
  random: Random
  /** Those of the row that are run. */
  contenders: readonly Contender[]
  /** Fewer and shorter rounds: the figures show that it works, and nothing else. */
  quick: boolean
  /** For the row that counts events; its own number otherwise. */
  events: number | undefined
  progress: (line: string) => void
}

/** One column of a table: what was measured of each contender, round by round. */
export interface Figure {
  title: string
  /** How one value is shown. */
  show: (value: number) => string
  samples: Samples
  /** Contenders that the others are held against, in columns of their own. */
  against: readonly string[]
}

/** The values of each contender, by its id, in the order of the rounds. */
export type Samples = Readonly<Record<string, readonly number[]>>

/** Whether a target was reached. */
export interface Verdict {
  target: string
  measured: string
  reached: boolean
}

/** What came of a row. */
export interface Measured {
  figures: readonly Figure[]
  verdicts: readonly Verdict[]
  /** Sentences about this run that the table can't say. */
  facts: readonly string[]
}

/** A row of the benchmark. */
export interface BenchmarkRow {
  /** For `--only`. */
  id: string
  title: string
  /** What is measured and how, in a few sentences. */
  method: string
  contenders: readonly Contender[]
  run(context: RowContext): Promise<Measured>
}
