/** Compares an exchange with an expectation. */
import type { Exchange } from '../world/exchange.ts'
import { at, isRecord } from '../world/json.ts'
import { plural } from '../world/text.ts'
import type { Expectation } from './step.ts'

export interface Check {
  sentence: string
  /** Set if the check failed. */
  failure?: { expected: unknown; found: unknown }
}

/** Checks everything that a step expects. */
export function checkExchange(exchange: Exchange, expectation: Expectation): Check[] {
  const { says, status = 200, replayed, body, provider, changes, silent } = expectation
  const { statuses, sensitive, metrics, also = [] } = expectation
  const { response, calls } = exchange
  const providerCalls = calls
    .filter(({ to }) => to === 'provider')
    .map(({ method, path, status: code }) => `${method} ${path} ${code ?? 'no response'}`)
  const reported = (kind: string) =>
    calls
      .filter(({ to, path }) => to === 'platform' && path.endsWith(`/${kind}`))
      .map((call) => call.request.body)
  const amount = (noun: string, { length }: readonly unknown[]) =>
    length === 0 ? `no ${noun}` : plural(length, noun)

  const expected = {
    status,
    ...(replayed && { replayed }),
    body: metrics ? { metrics } : (body ?? response.body),
  }
  const checks = [check(says, response, expected)]
  const add = (sentence: string, found: unknown, wanted: unknown) =>
    checks.push(check(sentence, found, wanted))
  if (provider) add(amount('provider call', provider), providerCalls, provider)
  if (changes) {
    const found = providerCalls.filter((call) => !call.startsWith('GET '))
    add(amount('provider change', changes), found, changes)
  }
  if (silent) add('no call at all', calls, [])
  if (statuses) {
    const found = reported('status').map((report) => at(report, 'status'))
    add(
      statuses.length === 0 ? 'no status reported' : `reported ${statuses.join(', then ')}`,
      found,
      statuses,
    )
  }
  if (sensitive) {
    const wanted = sensitive.length > 0 ? [{ sensitive }] : []
    add(
      sensitive.length > 0 ? `${sensitive} published as sensitive` : 'no outputs published',
      reported('outputs'),
      wanted,
    )
  }
  if (metrics) add('reported to the platform', reported('metrics'), [{ metrics }])
  for (const [sentence, found, wanted] of also) add(sentence, found, wanted)
  return checks
}

function check(sentence: string, found: unknown, expected: unknown): Check {
  if (matches(found, expected)) return { sentence }
  return { sentence, failure: { expected, found: reduce(found, expected) } }
}

function matches(found: unknown, expected: unknown): boolean {
  if (expected instanceof RegExp) return typeof found === 'string' && expected.test(found)
  if (Array.isArray(expected)) {
    const sameLength = Array.isArray(found) && found.length === expected.length
    return sameLength && expected.every((item, index) => matches(found[index], item))
  }
  if (isRecord(expected)) {
    return isRecord(found) && Object.entries(expected).every(([name, value]) => matches(found[name], value))
  }
  return Object.is(found, expected)
}

/** Keeps only the expected fields, so that the printed values show the difference. */
function reduce(found: unknown, expected: unknown): unknown {
  if (!isRecord(found) || !isRecord(expected) || expected instanceof RegExp) return found
  return Object.fromEntries(
    Object.entries(expected).map(([name, value]) => [name, reduce(found[name], value)]),
  )
}
