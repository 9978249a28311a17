import type { Findings } from './checks.ts'

interface ScenarioOptions {
  /** The length of a scenario that has no length of its own. */
  minutes: number
  /** One after another, three seeds do everything that a scenario can do. */
  seeds: readonly number[]
  /** Only the cases whose name has this text run; empty for all cases of the seeds. */
  only: string
}

export interface Scenario {
  name: string
  shows: string
  /** How many cases run at the same time. */
  atATime: number
  /** Its cases by name. Each reports to `found`. */
  cases(options: ScenarioOptions): Record<string, (found: Findings) => Promise<unknown>>
}
