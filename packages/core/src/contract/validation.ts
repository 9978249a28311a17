import * as z from 'zod'
import type { FieldError } from '../errors.ts'
import { countFaults, MAX_FAULTS } from '../problem.ts'

/** Makes the schema of a function's arguments, in which an unknown field is an error. */
export function functionArguments<const Shape extends z.core.$ZodLooseShape>(
  shape: Shape,
): z.ZodObject<Shape, z.core.$strict> {
  return z.strictObject(shape)
}

/** Unknown fields of one value that get a suggestion, which costs as much as all other work on the fault. */
const MAX_SUGGESTIONS = 5
/** A shorter part of a name says little. */
const SHORTEST_WORD = 4
/** Characters of a name that a path or a suggestion looks at. */
const MAX_NAME_LENGTH = 80

/**
 * Converts the issues of zod to field errors with readable messages: the first {@link MAX_FAULTS}, and one for the
 * rest.
 *
 * @param base the path of the validated value
 * @param known the field names at the top, to suggest the nearest for an unknown one
 */
export function fieldErrors(error: z.ZodError, base: string, known: readonly string[] = []): FieldError[] {
  const errors: FieldError[] = []
  let count = 0
  for (const issue of error.issues) {
    const room = MAX_FAULTS - errors.length
    const isKeys = issue.code === 'unrecognized_keys'
    count += isKeys ? issue.keys.length : 1
    if (room === 0) continue
    const path = joinPath(base, issue.path)
    if (isKeys) {
      const names = issue.path.length === 0 ? known : []
      for (const key of issue.keys.slice(0, room)) {
        const hint = errors.length < MAX_SUGGESTIONS ? suggestion(key, names) : ''
        errors.push({ path: joinPath(path, [key]), message: `is not known here${hint}` })
      }
    } else if (issue.code === 'invalid_type' && issue.message.endsWith('received undefined')) {
      errors.push({ path, message: `is required: expected ${issue.expected}` })
    } else {
      errors.push({ path, message: issue.message.replace(/^Invalid (input|option|string): /, '') })
    }
  }
  const more = count - errors.length
  return more > 0 ? [...errors, { path: '', message: `and ${more} more`, count: more }] : errors
}

export function joinPath(base: string, path: readonly PropertyKey[]): string {
  return path.reduce<string>((joined, key) => {
    if (typeof key === 'number') return `${joined}[${key}]`
    const name = String(key).slice(0, MAX_NAME_LENGTH)
    return joined === '' ? name : `${joined}.${name}`
  }, base)
}

/**
 * Suggests the nearest of some names: “; the nearest name is …”. The first or last word of a name is near to it.
 *
 * @returns an empty string if no name is close
 */
export function suggestion(given: string, names: readonly string[]): string {
  if (given.length > MAX_NAME_LENGTH) return ''
  const word = given.toLowerCase()
  const isPart = (name: string) =>
    word.length >= SHORTEST_WORD && (name.startsWith(word) || name.endsWith(word))
  const nearest = names
    .map((name) => ({ name, lower: name.toLowerCase() }))
    .map(({ name, lower }) => ({ name, distance: isPart(lower) ? 1 : editDistance(word, lower) }))
    .sort((a, b) => a.distance - b.distance)[0]
  const close = nearest && nearest.distance <= Math.max(2, Math.floor(nearest.name.length / 3))
  return close ? `; the nearest name is “${nearest.name}”` : ''
}

/** The Levenshtein distance. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let i = 1; i <= from.length; i += 1) {
    const next = [i]
    for (let j = 1; j <= to.length; j += 1) {
      const substitution = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1)
      next.push(Math.min(substitution, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[to.length] ?? 0
}

/** The first fault and the number of the others, as the end of a sentence. */
export function summarise(errors: readonly FieldError[]): string {
  const [first, ...others] = errors
  if (!first) return 'they do not match the schema'
  const more = countFaults(others)
  return `${first.path || 'they'} ${first.message}${more > 0 ? `, and ${more} more` : ''}`
}
