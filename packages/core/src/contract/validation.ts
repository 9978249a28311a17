import * as z from 'zod'
import type { FieldError } from '../errors.ts'
import { suggestion } from './suggestion.ts'

/** Makes the schema of a function's arguments, in which an unknown field is an error. */
export function functionArguments<const Shape extends z.core.$ZodLooseShape>(
  shape: Shape,
): z.ZodObject<Shape, z.core.$strict> {
  return z.strictObject(shape)
}

/** Unknown fields of one value that get a suggestion, which costs as much as all other work on the fault. */
const MAX_SUGGESTIONS = 5
/** Characters of a name that a path has. */
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

/** The first fault and the number of the others, as the end of a sentence. */
export function summarise(errors: readonly FieldError[]): string {
  const [first, ...others] = errors
  if (!first) return 'they do not match the schema'
  return `${first.path || 'they'} ${first.message}${others.length > 0 ? `, and ${others.length} more` : ''}`
}
