/** Runs walks: delivers each event, and checks its effects. */
import { isRecord } from '../world/json.ts'
import type { World } from '../world/world.ts'
import type { Printer, Report, Summary, Tally } from './print.ts'
import type { Step, Walk } from './walks.ts'

/** Runs every step of every walk. `signal`: ends the run after the current step. */
export async function runWalks(
  walks: readonly Walk[],
  world: World,
  printer: Printer,
  signal: AbortSignal,
): Promise<Summary> {
  const started = performance.now()
  const total: Tally = { passed: 0, failed: 0 }
  for (const walk of walks) {
    const tally: Tally = { passed: 0, failed: 0 }
    for (const [index, step] of walk.steps.entries()) {
      if (signal.aborted) break
      const report = await runStep(walk.route, step, index, world)
      const outcome = report.failure ? 'failed' : 'passed'
      if (report.failure) printer.step(`/${walk.route} ${step.event.name}`, step.title, report)
      tally[outcome] += 1
      total[outcome] += 1
    }
    if (!signal.aborted) printer.walked(walk, tally)
  }
  return { ...total, durationMs: performance.now() - started }
}

async function runStep(route: string, step: Step, index: number, world: World): Promise<Report> {
  const { title: _, event, id, prepare, status = 200, ...more } = step
  try {
    prepare?.()
    const before = world.providerCalls().length
    const delivery = id ?? `evt_${route}_${index + 1}`
    const exchange = await world.deliver({ route, body: JSON.stringify(event), id: delivery }, 'walk')
    const expected = { status, ...more }
    const found = { ...exchange.response, calls: world.providerCalls().slice(before) }
    if (matches(found, expected)) return { exchange }
    const differences = Object.entries({ expected, found: reduce(found, expected) })
    return { exchange, failure: differences.map(([name, data]) => `${name} ${JSON.stringify(data)}`) }
  } catch (error) {
    return { failure: [error instanceof Error ? error.message : String(error)] }
  }
}

function matches(found: unknown, expected: unknown): boolean {
  if (expected instanceof RegExp) return typeof found === 'string' && expected.test(found)
  if (Array.isArray(expected)) {
    const sameLength = Array.isArray(found) && found.length === expected.length
    return sameLength && expected.every((item, index) => matches(found[index], item))
  }
  if (!isRecord(expected)) return Object.is(found, expected)
  return isRecord(found) && Object.entries(expected).every(([name, value]) => matches(found[name], value))
}

/** Keeps only the expected fields, so that the printed values show the difference. */
function reduce(found: unknown, expected: unknown): unknown {
  if (!isRecord(found) || !isRecord(expected) || expected instanceof RegExp) return found
  const fields = Object.entries(expected).map(([name, value]) => [name, reduce(found[name], value)])
  return Object.fromEntries(fields)
}
