import type { Findings } from './checks.ts'

export interface ScenarioOptions {
  /** The length of `failover`. */
  minutes: number
  /** `outage` and `drill` run only the cases whose name has this text. */
  only: string
  say(line: string): void
}

export interface Scenario {
  name: string
  shows: string
  /** Reports to `found`. */
  run(found: Findings, options: ScenarioOptions): Promise<unknown>
}
