import type { Findings } from './checks.ts'

export interface ScenarioOptions {
  /** The length of a scenario that has no length of its own. */
  minutes: number
  /** How often a scenario repeats each case. */
  seeds: number
  /** `outage` runs only the cases whose name has this text. */
  only: string
  say(line: string): void
}

export interface Scenario {
  name: string
  shows: string
  /** Reports to `found`. */
  run(found: Findings, options: ScenarioOptions): Promise<unknown>
}
