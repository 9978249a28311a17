/**
 * Query parameters that several lists share.
 *
 * @module
 */
import { parameterReason, Refusal, refusals } from './refusals.ts'

const LIMIT_MOST = 500
const LIMIT_DEFAULT = 10
const VALUES_MOST = 100

/** The part of a list that is asked for. */
export interface Page {
  limit: number
  offset: number
}

/** @throws {Refusal} where the limit is not 1–500, or the offset is below 0 */
export function readPage(query: URLSearchParams): Page {
  const limit = readInteger(query, 'limit') ?? LIMIT_DEFAULT
  if (limit < 1 || limit > LIMIT_MOST) throw refusals.wrongValue('limit', String(limit))
  return { limit, offset: readInteger(query, 'offset') ?? 0 }
}

/** @throws {Refusal} where the parameter is there, and no whole number from 0 */
export function readInteger(query: URLSearchParams, parameter: string): number | undefined {
  const text = query.get(parameter)
  if (text === null) return undefined
  if (!/^\d{1,15}$/.test(text)) throw refusals.wrongValue(parameter, text)
  return Number(text)
}

/** @throws {Refusal} where the parameter is there, and neither `true` nor `false` */
export function readBoolean(query: URLSearchParams, parameter: string): boolean | undefined {
  const text = query.get(parameter)
  if (text === null) return undefined
  if (text !== 'true' && text !== 'false') throw refusals.wrongValue(parameter, text)
  return text === 'true'
}

/**
 * The values of a repeated parameter: `email_address=a&email_address=b`.
 *
 * @throws {Refusal} where there are more than 100
 */
export function readValues(query: URLSearchParams, parameter: string): string[] {
  const values = query.getAll(parameter)
  if (values.length <= VALUES_MOST) return values
  const message = `${parameter} should not exceed ${VALUES_MOST} items.`
  throw new Refusal(
    422,
    parameterReason('form_param_array_size_exceeded', parameter, 'exceeds maximum size', message),
  )
}

/** Whether an item passes a repeated parameter whose values may begin with `+` or `-`. */
export function readSigned(query: URLSearchParams, parameter: string): (has: Has) => boolean {
  const values = readValues(query, parameter)
  const wanted = values.filter((value) => !value.startsWith('-')).map(withoutSign)
  const unwanted = values.filter((value) => value.startsWith('-')).map(withoutSign)
  return (has) => (wanted.length === 0 || wanted.some(has)) && !unwanted.some(has)
}

type Has = (value: string) => boolean

// A plus sign that was not encoded arrives as a space.
function withoutSign(value: string): string {
  return value.replace(/^[-+ ]/, '')
}

/** Which way a list is sorted. */
export interface Order {
  field: string
  descending: boolean
}

/**
 * The first `order_by`; without one, the newest come first.
 *
 * @throws {Refusal} where the list can't be ordered so
 */
export function readOrder(query: URLSearchParams, fields: readonly string[]): Order {
  const text = query.get('order_by') || '-created_at'
  const field = withoutSign(text)
  if (!fields.includes(field)) throw refusals.wrongValue('order_by', text)
  return { field, descending: text.startsWith('-') }
}

/** Sorts by a key; items without one come last, and equal ones keep the order of their creation. */
export function sortBy<Item>(
  items: readonly Item[],
  key: (item: Item) => string | number | null,
  descending: boolean,
): Item[] {
  const sorted = items.toSorted((one, other) => compare(key(one), key(other)))
  if (!descending) return sorted
  const empty = sorted.findIndex((item) => key(item) === null)
  if (empty === -1) return sorted.reverse()
  return [...sorted.slice(0, empty).reverse(), ...sorted.slice(empty)]
}

function compare(one: string | number | null, other: string | number | null): number {
  if (one === other) return 0
  if (one === null) return 1
  if (other === null) return -1
  return one < other ? -1 : 1
}
