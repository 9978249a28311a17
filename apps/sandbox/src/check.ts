/**
 * What a step asserts, as data that can be printed.
 *
 * @module
 */
import { at, isRecord } from './data.ts'
import type { Exchange, OutboundCall } from './exchange.ts'

/** One assertion, and whether it holds. */
export interface Check {
  /** What is asserted, for a person who reads along. */
  what: string
  /** Where it does not hold. */
  failure?: { wanted: unknown; found: unknown }
}

/**
 * Compares. An object has to have the wanted fields and may have more; a list has to have the same length; an
 * expression has to match a text.
 */
export function check(what: string, found: unknown, wanted: unknown): Check {
  return matches(found, wanted) ? { what } : { what, failure: { wanted, found: onlyWanted(found, wanted) } }
}

/** What the host asked of the provider, for example `POST /email 200`. */
export function providerCalls({ calls }: Exchange): string[] {
  return calls
    .filter(({ to }) => to === 'provider')
    .map(({ method, path, status }) => `${method} ${path} ${status ?? 'no answer'}`)
}

/** The statuses that the platform was told, in order. */
export function toldStatuses({ calls }: Exchange): unknown[] {
  return callbacks(calls, 'status').map(({ body }) => at(body, 'status'))
}

/** What else the platform was told. */
export function told({ calls }: Exchange, kind: 'outputs' | 'logs' | 'metrics'): unknown[] {
  return callbacks(calls, kind).map(({ body }) => body)
}

function callbacks(calls: readonly OutboundCall[], kind: string): OutboundCall[] {
  return calls.filter(({ to, path }) => to === 'platform' && path.endsWith(`/${kind}`))
}

function matches(found: unknown, wanted: unknown): boolean {
  if (wanted instanceof RegExp) return typeof found === 'string' && wanted.test(found)
  if (Array.isArray(wanted)) {
    return (
      Array.isArray(found) &&
      found.length === wanted.length &&
      wanted.every((item, index) => matches(found[index], item))
    )
  }
  if (isRecord(wanted)) {
    return isRecord(found) && Object.entries(wanted).every(([name, value]) => matches(found[name], value))
  }
  return Object.is(found, wanted)
}

/** Without the fields that nobody asked about: what is printed is then the difference. */
function onlyWanted(found: unknown, wanted: unknown): unknown {
  if (!isRecord(found) || !isRecord(wanted) || wanted instanceof RegExp) return found
  return Object.fromEntries(
    Object.entries(wanted).map(([name, value]) => [name, onlyWanted(found[name], value)]),
  )
}
