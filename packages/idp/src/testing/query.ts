/** The query parameters that the lists share. */
import { Refusal, refusals, unknownParameter } from './refusals.ts'

const MAX_LIMIT = 500
const DEFAULT_LIMIT = 10

/**
 * Refuses a parameter that the emulator does not have. An ignored filter would return too many results.
 *
 * @throws {Refusal} 422 that names each unknown parameter
 */
export function checkParameters(query: URLSearchParams, known: readonly string[]): void {
  const unknown = [...new Set(query.keys())].filter((name) => !known.includes(name))
  if (unknown.length > 0) throw new Refusal(422, ...unknown.map(unknownParameter))
}

/** @throws {Refusal} 422 unless the limit is from 1 to 500, and the offset at least 0 */
export function readPage(query: URLSearchParams): { limit: number; offset: number } {
  const limit = readInteger(query, 'limit') ?? DEFAULT_LIMIT
  if (limit < 1 || limit > MAX_LIMIT) throw refusals.wrongValue('limit', String(limit))
  return { limit, offset: readInteger(query, 'offset') ?? 0 }
}

function readInteger(query: URLSearchParams, parameter: string): number | undefined {
  const text = query.get(parameter)
  if (text === null) return undefined
  if (!/^\d{1,15}$/.test(text)) throw refusals.wrongValue(parameter, text)
  return Number(text)
}

/** @throws {Refusal} 422 for a value other than `true` and `false` */
export function readBoolean(query: URLSearchParams, parameter: string): boolean | undefined {
  const text = query.get(parameter)
  if (text === null) return undefined
  if (text !== 'true' && text !== 'false') throw refusals.wrongValue(parameter, text)
  return text === 'true'
}

/** Reads the value that a list is sorted by. */
type SortKey<Item> = (item: Item) => string | number | null

/**
 * Sorts as `order_by` says, the newest first by default. Items without a value come last, and equal ones keep
 * the order of their creation, or its reverse.
 *
 * @throws {Refusal} 422 for an order that the list does not have
 */
export function sort<Item>(
  items: Iterable<Item>,
  query: URLSearchParams,
  keys: Readonly<Record<string, SortKey<Item>>>,
): Item[] {
  const { field, descending } = readOrder(query)
  const key = Object.hasOwn(keys, field) ? keys[field] : undefined
  if (!key) throw refusals.wrongValue('order_by', query.get('order_by') ?? '')
  const all = [...items]
  const sorted = all
    .filter((item) => key(item) !== null)
    .sort((one, other) => compare(key(one) ?? '', key(other) ?? ''))
  return [...(descending ? sorted.reverse() : sorted), ...all.filter((item) => key(item) === null)]
}

/** Reads `order_by`: a field, with `-` in front for descending. */
export function readOrder(query: URLSearchParams): { field: string; descending: boolean } {
  const text = query.get('order_by') || '-created_at'
  // A plus sign that was not encoded arrives as a space.
  return { field: text.replace(/^[-+ ]/, ''), descending: text.startsWith('-') }
}

function compare(one: string | number, other: string | number): number {
  return Number(one > other) - Number(one < other)
}
