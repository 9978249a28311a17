import type { Json } from '../../contract/handler-context.ts'

/** How long an unfinished record is kept after its last claim, in milliseconds. */
export const UNFINISHED_MS = 7 * 24 * 60 * 60 * 1000

/** Steps as names and JSON texts. */
export function writeSteps(steps: Record<string, Json>): [name: string, json: string][] {
  return Object.entries(steps).map(([name, value]) => [name, JSON.stringify(value)])
}

/** Parses steps that {@link writeSteps} wrote. */
export function readSteps(steps: readonly (readonly [name: string, json: string])[]): Record<string, Json> {
  return Object.fromEntries(steps.map(([name, json]) => [name, JSON.parse(json)]))
}
