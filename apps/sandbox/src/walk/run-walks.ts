/**
 * Goes through walks: delivers each event, and checks what came of it.
 *
 * @module
 */
import type { Printer, Summary } from '../print.ts'
import type { World } from '../world.ts'
import type { Step, Walk } from './step.ts'

/**
 * Runs every step of every walk.
 *
 * @param signal ends the run after the step that is under way
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
    if (!signal.aborted) printer.walk(walk)
    for (const step of walk.steps) {
      if (signal.aborted) continue
      number += 1
      outcomes[await runStep(walk, step, number, world, printer)] += 1
    }
  }
  return { ...outcomes, durationMs: performance.now() - started }
}

async function runStep(
  walk: Walk,
  step: Step,
  number: number,
  world: World,
  printer: Printer,
): Promise<'passed' | 'failed' | 'skipped'> {
  const event = typeof step.event === 'function' ? step.event(world) : step.event
  printer.heading(walk.route, event.name, step.title, number)
  const reason = step.skip?.(world)
  if (reason !== undefined) {
    printer.skipped(reason)
    return 'skipped'
  }
  try {
    step.prepare?.(world)
    const delivery = step.delivery ?? `evt_${walk.route}_${number}`
    const exchange = await world.deliver(walk.route, event, delivery)
    printer.exchange(exchange, walk.describeCall)
    const checks = step.expect(exchange, world)
    printer.checks(checks)
    return checks.some(({ failure }) => failure) ? 'failed' : 'passed'
  } catch (error) {
    printer.failure(error instanceof Error ? error.message : String(error))
    return 'failed'
  }
}
