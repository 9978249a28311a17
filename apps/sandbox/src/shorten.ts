/**
 * What a program sends, as short as a person wants to read it.
 *
 * @module
 */
import { at, isRecord, listOf } from './data.ts'

const LONGEST_QUERY = 16

/** A text with the ids that providers make cut short, for example `user_2ERp…`. */
export function shortenIds(text: string): string {
  return text.replaceAll(/\b([a-z]+_\w{4})\w{16,}/g, '$1…')
}

/** A path with short ids, and without a query that says more than there is room for. */
export function shortenPath(path: string): string {
  const [pathname = '', query] = path.split('?')
  const short = shortenIds(pathname)
  if (query === undefined) return short
  return `${short}?${query.length > LONGEST_QUERY ? '…' : query}`
}

/** Without the fields that hold nothing: results name every field there is. */
export function withoutAbsent(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutAbsent)
  if (!isRecord(value)) return value
  const present = Object.entries(value).filter(
    ([, field]) => field !== null && !(isRecord(field) && Object.keys(field).length === 0),
  )
  return Object.fromEntries(present.map(([name, field]) => [name, withoutAbsent(field)]))
}

/** A file in the body of an answer or of a callback. */
export interface ShownFile {
  path: string
  contentType: string
  lines: readonly string[]
}

/** The files in a body; none where it is about something else. */
export function filesOf(body: unknown): ShownFile[] {
  return listOf(at(body, 'files')).map((file) => ({
    path: String(at(file, 'path')),
    contentType: String(at(file, 'contentType')),
    lines: String(at(file, 'content')).trimEnd().split('\n'),
  }))
}
