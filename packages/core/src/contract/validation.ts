import * as z from 'zod'
import type { FieldError } from '../errors.ts'

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
 * Converts the issues of zod to field errors with readable messages.
 *
 * @param base the path of the validated value
 * @param known the field names at the top, to suggest the nearest for an unknown one
 */
export function fieldErrors(error: z.ZodError, base: string, known: readonly string[] = []): FieldError[] {
  let suggestions = 0
  return error.issues.flatMap((issue) => {
    const path = joinPath(base, issue.path)
    if (issue.code === 'invalid_type' && issue.message.endsWith('received undefined'))
      return { path, message: `is required: expected ${issue.expected}` }
    if (issue.code !== 'unrecognized_keys')
      return { path, message: issue.message.replace(/^Invalid (input|option|string): /, '') }
    const names = issue.path.length === 0 ? known : []
    return issue.keys.map((key) => {
      suggestions += 1
      const hint = suggestions <= MAX_SUGGESTIONS ? suggestion(key, names) : ''
      return { path: joinPath(path, [key]), message: `is not known here${hint}` }
    })
  })
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
  return `${first.path || 'they'} ${first.message}${others.length > 0 ? `, and ${others.length} more` : ''}`
}
