/**
 * Parses what a sender chose: arguments and inputs. Sizes are checked first, because a schema looks at every entry
 * of a list and makes a fault of each.
 */
import * as z from 'zod'
import { fieldErrors, joinPath } from '../contract/validation.ts'
import type { FieldError } from '../errors.ts'
import { withCommas } from '../json.ts'
import { MAX_FAULTS } from '../problem.ts'

/** Longest text of an argument, in UTF-16 units, unless its schema allows a longer one (contract §9). */
const MAX_ARGUMENT_LENGTH = 1024 * 1024
/** Longest text of an input or an output. The response to a creation repeats some of them. */
export const MAX_INPUT_LENGTH = 64 * 1024
/** Longest list (contract §9). A schema itself refuses one that is too long for it. */
const MAX_ITEMS = 10_000

/** Parsed fields, or the faults of each. */
export type ParsedFields<Schema extends z.ZodType> =
  | { data: z.output<Schema>; errors?: undefined }
  | { data?: undefined; errors: FieldError[]; cause?: unknown }

/** Parses the arguments of a function. */
export function parseArguments<Schema extends z.ZodObject>(
  schema: Schema,
  value: unknown,
): ParsedFields<Schema> {
  return parse(schema, value, '', MAX_ARGUMENT_LENGTH)
}

/**
 * Parses the inputs or the outputs of a deployment. Unknown fields do not count: nobody reads them.
 *
 * @param resolve replaces parts of the values, once their sizes are checked
 */
export function parseInputs<Schema extends z.ZodObject>(
  schema: Schema,
  values: Record<string, unknown>,
  base: string,
  resolve?: (values: Record<string, unknown>) => unknown,
): ParsedFields<Schema> {
  const known = Object.fromEntries(Object.keys(schema.shape).map((name) => [name, values[name]]))
  return parse(schema, known, base, MAX_INPUT_LENGTH, resolve)
}

function parse<Schema extends z.ZodObject, Value>(
  schema: Schema,
  value: Value,
  base: string,
  maxLength: number,
  resolve: (value: Value) => unknown = (value) => value,
): ParsedFields<Schema> {
  const errors = findOversized(schema, value, base, maxLength)
  if (errors.length > 0) return { errors }
  const { success, data, error } = schema.safeParse(resolve(value))
  return success ? { data } : { errors: fieldErrors(error, base, Object.keys(schema.shape)), cause: error }
}

/** The limits of a field, and of everything in it. */
interface Limits {
  /** The longest text that its schema allows. */
  maxLength: number
  /** Whether its function checks it, or the entries of its list. */
  isParsedByFunction: boolean
}

const known = new WeakMap<z.ZodObject, ReadonlyMap<string, Limits>>()

/** The limits of each field of a schema. */
function limitsOf(schema: z.ZodObject): ReadonlyMap<string, Limits> {
  const found = known.get(schema)
  if (found) return found
  const all = Object.entries(schema.shape).map(([name, field]) => {
    const limits: Limits = { maxLength: 0, isParsedByFunction: false }
    z.toJSONSchema(z.object({ [name]: field }), {
      io: 'input',
      override({ jsonSchema: { maxLength = 0, parsedByFunction = false } }) {
        limits.maxLength = Math.max(limits.maxLength, maxLength)
        limits.isParsedByFunction ||= parsedByFunction === true
      },
    })
    return [name, limits] as const
  })
  const limits = new Map(all)
  known.set(schema, limits)
  return limits
}

function findOversized(schema: z.ZodObject, root: unknown, base: string, maxLength: number): FieldError[] {
  const fields = limitsOf(schema)
  const errors: FieldError[] = []
  const path: PropertyKey[] = []
  const fault = (message: string) => void errors.push({ path: joinPath(base, path), message })

  function visit(value: unknown, limits: Limits | undefined): void {
    if (typeof value === 'string' && !limits?.isParsedByFunction) {
      const most = Math.max(maxLength, limits?.maxLength ?? 0)
      if (value.length > most) fault(`is longer than ${withCommas(most)} characters`)
    }
    if (typeof value !== 'object' || value === null || errors.length >= MAX_FAULTS) return
    if (Array.isArray(value) && value.length > MAX_ITEMS) {
      fault(`may have ${withCommas(MAX_ITEMS)} entries, but has ${withCommas(value.length)}`)
      return
    }
    if (limits?.isParsedByFunction) return
    const members: Iterable<[PropertyKey, unknown]> = Array.isArray(value)
      ? value.entries()
      : Object.entries(value)
    for (const [key, member] of members) {
      path.push(key)
      visit(member, path.length === 1 ? fields.get(String(key)) : limits)
      path.pop()
    }
  }

  visit(root, undefined)
  return errors
}
