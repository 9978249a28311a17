/** Shortens data for a reader. */
import { isRecord } from './json.ts'

const LONGEST_TEXT = 120
const SHORT_LIST = 4

/** A number with separated thousands. */
export function count(value: number): string {
  return value.toLocaleString('en-US')
}

/** A number of things, for example `1 call` or `1,203 calls`. */
export function plural(items: number, one: string): string {
  return `${count(items)} ${one}${items === 1 ? '' : 's'}`
}

/** Cuts the end of a text that is too long. */
export function truncate(text: string, width: number): string {
  const characters = [...text]
  return characters.length <= width ? text : `${characters.slice(0, Math.max(0, width - 1)).join('')}…`
}

/** Shows the characters that would turn the order of the others, for example as `\\u202e`. */
export function showTurns(text: string): string {
  return text.replaceAll(/[\u202a-\u202e\u2066-\u2069]/g, (turn) => `\\u${turn.charCodeAt(0).toString(16)}`)
}

/** Cuts the ids that providers generate, for example to `user_2ERp…`. */
export function shortenIds(text: string): string {
  return text.replaceAll(/\b([a-z]+_\w{4})\w{16,}/g, '$1…')
}

/** A path with short ids, and without the values of its query. */
export function shortenPath(path: string): string {
  return shortenIds(path.replace(/\?.*/, '?…'))
}

/** Removes `null` and empty objects, because results name every field there is. */
export function withoutAbsent(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutAbsent)
  if (!isRecord(value)) return value
  const present = Object.entries(value).filter(
    ([, field]) => field !== null && !(isRecord(field) && Object.keys(field).length === 0),
  )
  return Object.fromEntries(present.map(([name, field]) => [name, withoutAbsent(field)]))
}

/** A value in one line. Long lists become their length and how often each `status` occurs. */
export function brief(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(truncate(value, LONGEST_TEXT))
  if (Array.isArray(value)) {
    return value.length > SHORT_LIST ? `(${count(value.length)})` : `[${value.map(brief).join(', ')}]`
  }
  if (!isRecord(value)) return String(value)
  const fields = Object.entries(value).filter(([, field]) => field !== undefined)
  return fields.length === 0 ? '{}' : `{ ${fields.map(briefField).join(', ')} }`
}

function briefField([name, value]: [string, unknown]): string {
  if (!Array.isArray(value) || value.length <= SHORT_LIST) return `${name}: ${brief(value)}`
  const statuses = value.map((item) => (isRecord(item) ? item.status : undefined))
  const known = statuses.every((status) => typeof status === 'string')
  const tally = [...Map.groupBy(statuses, String)].map(([status, all]) => `${count(all.length)} ${status}`)
  return `(${count(value.length)} ${name}${known ? `: ${tally.join(', ')}` : ''})`
}
