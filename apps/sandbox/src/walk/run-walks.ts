/** Runs walks: delivers each event, and checks its effects. */
import type { Exchange } from '../world/exchange.ts'
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
  let number = 0
  for (const walk of walks) {
    const tally: Tally = { passed: 0, failed: 0 }
    for (const step of walk.steps) {
      if (signal.aborted) break
      number += 1
      const report = await runStep(walk.route, step, number, world)
      const outcome = report.failure ? 'failed' : 'passed'
      printer.step(`/${walk.route} ${step.event.name}`, step.title, number, report)
      tally[outcome] += 1
      total[outcome] += 1
    }
    if (!signal.aborted) printer.walked(walk, tally)
  }
  return { ...total, durationMs: performance.now() - started }
}

async function runStep(route: string, step: Step, number: number, world: World): Promise<Report> {
  const { says, status = 200, ...more } = step.expect
  try {
    step.prepare?.()
    const id = step.id ?? `evt_${route}_${number}`
    const exchange = await world.deliver({ route, body: JSON.stringify(step.event), id }, 'walk')
    const expected = { status, ...more }
    const found = { ...exchange.response, calls: providerCalls(exchange) }
    if (matches(found, expected)) return { says, exchange }
    const differences = Object.entries({ expected, found: reduce(found, expected) })
    return { says, exchange, failure: differences.map(([name, data]) => `${name} ${JSON.stringify(data)}`) }
  } catch (error) {
    return { says, failure: [error instanceof Error ? error.message : String(error)] }
  }
}

function providerCalls({ calls }: Exchange): string[] {
  const made = calls.filter(({ to }) => to === 'provider')
  return made.map(({ method, path, status }) => `${method} ${path} ${status ?? 'no response'}`)
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
