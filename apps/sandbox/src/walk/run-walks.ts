/** Runs walks: delivers each event, and checks its effects. */
import type { World } from '../world/world.ts'
import { checkExchange } from './check.ts'
import type { Printer, Summary } from './print.ts'
import type { Step, Walk } from './step.ts'

/**
 * Runs every step of every walk.
 *
 * @param signal ends the run after the current step
 */
export async function runWalks(
  walks: readonly Walk[],
  world: World,
  printer: Printer,
  signal: AbortSignal,
): Promise<Summary> {
  const started = performance.now()
  const outcomes = { passed: 0, failed: 0, skipped: 0 }
  let number = 0
  for (const walk of walks) {
    if (signal.aborted) break
    printer.walk(walk)
    for (const step of walk.steps) {
      if (signal.aborted) break
      number += 1
      const outcome = await runStep(walk.route, step, number, world, printer)
      printer.ended(outcome)
      outcomes[outcome] += 1
    }
    printer.walked(walk)
  }
  return { ...outcomes, durationMs: performance.now() - started }
}

async function runStep(
  route: string,
  { event: given, title, skip, prepare, delivery, expect }: Step,
  number: number,
  world: World,
  printer: Printer,
): Promise<keyof Omit<Summary, 'durationMs'>> {
  const event = typeof given === 'function' ? given(world) : given
  printer.heading(route, event.name, title, number)
  const reason = skip?.(world)
  if (reason !== undefined) {
    printer.skipped(reason)
    return 'skipped'
  }
  try {
    prepare?.(world)
    const id = delivery ?? `evt_${route}_${number}`
    const exchange = await world.deliver({ route, body: JSON.stringify(event), id }, 'walk')
    printer.exchange(exchange)
    const expectation = typeof expect === 'function' ? expect(world, exchange) : expect
    const checks = checkExchange(exchange, expectation)
    printer.checks(checks)
    return checks.some(({ failure }) => failure) ? 'failed' : 'passed'
  } catch (error) {
    printer.failure(error instanceof Error ? error.message : String(error))
    return 'failed'
  }
}
