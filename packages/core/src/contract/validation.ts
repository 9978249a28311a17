import * as z from 'zod'
import type { FieldError } from '../errors.ts'

/** Makes the schema of a function's arguments, in which an unknown field is an error. */
export function functionArguments<const Shape extends z.core.$ZodLooseShape>(
  shape: Shape,
): z.ZodObject<Shape, z.core.$strict> {
  return z.strictObject(shape)
}

/**
 * Converts the issues of zod to field errors with readable messages.
 *
 * @param base the path of the validated value
 * @param known the field names at the top, to suggest the nearest for an unknown one
 */
export function fieldErrors(error: z.ZodError, base: string, known: readonly string[] = []): FieldError[] {
  return error.issues.flatMap((issue) => {
    const path = joinPath(base, issue.path)
    if (issue.code === 'unrecognized_keys') {
      const names = issue.path.length === 0 ? known : []
      return issue.keys.map((key) => ({
        path: joinPath(path, [key]),
        message: `is not known here${suggestion(key, names)}`,
      }))
    }
    if (issue.code === 'invalid_type' && issue.message.endsWith('received undefined')) {
      return [{ path, message: `is required: expected ${issue.expected}` }]
    }
    return [{ path, message: issue.message.replace(/^Invalid (input|option|string): /, '') }]
  })
}

function joinPath(base: string, path: readonly PropertyKey[]): string {
  return path.reduce<string>((joined, key) => {
    if (typeof key === 'number') return `${joined}[${key}]`
    return joined === '' ? String(key) : `${joined}.${String(key)}`
  }, base)
}

/**
 * Suggests the nearest of some names: “; did you mean …?”.
 *
 * @returns an empty string if no name is close
 */
export function suggestion(given: string, names: readonly string[]): string {
  const nearest = names
    .map((name) => ({ name, distance: editDistance(given.toLowerCase(), name.toLowerCase()) }))
    .sort((a, b) => a.distance - b.distance)[0]
  const close = nearest && nearest.distance <= Math.max(2, Math.floor(nearest.name.length / 3))
  return close ? `; did you mean “${nearest.name}”?` : ''
}

/** The Levenshtein distance of the first 40 characters: a long name from outside must not cost time. */
function editDistance(a: string, b: string): number {
  const [from, to] = [a.slice(0, 40), b.slice(0, 40)]
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
