/** Runs walks: delivers each event, and checks its effects. */
import type { Exchange } from '../world/exchange.ts'
import { at, isRecord, listOf } from '../world/json.ts'
import { plural } from '../world/text.ts'
import type { World } from '../world/world.ts'
import type { Check, Printer, Summary } from './print.ts'
import { type Effects, type Expectation, made, type Step, type Walk } from './step.ts'

/** Runs every step of every walk. `signal`: ends the run after the current step. */
export async function runWalks(
  walks: readonly Walk[],
  world: World,
  printer: Printer,
  signal: AbortSignal,
): Promise<Summary> {
  const started = performance.now()
  const total = { passed: 0, failed: 0, skipped: 0 }
  let number = 0
  for (const walk of walks) {
    if (signal.aborted) break
    const tally = { passed: 0, failed: 0, skipped: 0 }
    printer.walk(walk)
    for (const step of walk.steps) {
      if (signal.aborted) break
      number += 1
      const outcome = await runStep(walk.route, step, number, world, printer)
      printer.ended(outcome)
      tally[outcome] += 1
      total[outcome] += 1
    }
    printer.walked(walk, tally)
  }
  return { ...total, durationMs: performance.now() - started }
}

async function runStep(
  route: string,
  { event: given, title, skip, prepare, delivery, expect }: Step,
  number: number,
  world: World,
  printer: Printer,
): Promise<'passed' | 'failed' | 'skipped'> {
  const event = made(given, world)
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
    const checks = checkExchange(exchange, typeof expect === 'function' ? expect(world, exchange) : expect)
    printer.checks(checks)
    return checks.some(({ failure }) => failure) ? 'failed' : 'passed'
  } catch (error) {
    printer.failure(error instanceof Error ? error.message : String(error))
    return 'failed'
  }
}

const amount = (noun: string, { length }: readonly unknown[]) =>
  length === 0 ? `no ${noun}` : plural(length, noun)

/** A sentence about each kind of effect. */
const sentences: { readonly [Kind in keyof Effects]-?: (expected: readonly unknown[]) => string } = {
  provider: (calls) => amount('provider call', calls),
  changes: (calls) => amount('provider change', calls),
  calls: (calls) => amount('call', calls),
  statuses: (all) => (all.length === 0 ? 'no status reported' : `reported ${all.join(', then ')}`),
  sensitive: (names) => (names.length === 0 ? 'no outputs published' : `${names} published as sensitive`),
  metrics: () => 'reported to the platform',
}

function checkExchange(exchange: Exchange, expectation: Expectation): Check[] {
  const { says, status = 200, replayed, body, also = [], ...effects } = expectation
  const { response } = exchange
  const found = effectsOf(exchange)
  const expected = { status, ...(replayed && { replayed }), body: body ?? response.body }
  const ofEffects = Object.entries(sentences).flatMap(([kind, sentence]) => {
    const wanted = listOf(at(effects, kind))
    return Object.hasOwn(effects, kind) ? [[sentence(wanted), at(found, kind), wanted] as const] : []
  })
  return [[says, response, expected] as const, ...ofEffects, ...also].map(check)
}

function effectsOf({ calls }: Exchange): Required<Record<keyof Effects, unknown>> {
  const provider = calls
    .filter(({ to }) => to === 'provider')
    .map(({ method, path, status }) => `${method} ${path} ${status ?? 'no response'}`)
  const reported = (kind: string) =>
    calls.filter(({ to, path }) => to === 'platform' && path.endsWith(`/${kind}`)).map((call) => call.request)
  return {
    provider,
    changes: provider.filter((call) => !call.startsWith('GET ')),
    calls,
    statuses: reported('status').map(({ body }) => at(body, 'status')),
    sensitive: reported('outputs').flatMap(({ body }) => {
      const names = listOf(at(body, 'sensitive'))
      return names.length > 0 ? names : 'none'
    }),
    metrics: reported('metrics').flatMap(({ body }) => listOf(at(body, 'metrics'))),
  }
}

function check([sentence, found, expected]: readonly [string, unknown, unknown]): Check {
  if (matches(found, expected)) return { sentence }
  return { sentence, failure: { expected, found: reduce(found, expected) } }
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
