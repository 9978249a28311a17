/**
 * Parses what a sender chose: arguments and inputs. Sizes are checked first, because a schema looks at every entry
 * of a list and makes a fault of each.
 */
import * as z from 'zod'
import { isParsedByFunction } from '../contract/marks.ts'
import { fieldErrors, joinPath } from '../contract/validation.ts'
import type { FieldError } from '../errors.ts'
import { withCommas } from '../json.ts'
import { MAX_FAULTS } from '../problem.ts'

/** Longest text of an argument, in UTF-16 units, unless its schema allows a longer one (contract §9). */
const MAX_ARGUMENT_LENGTH = 1024 * 1024
/** Longest text of an input or an output. The response to a creation repeats some of them. */
const MAX_INPUT_LENGTH = 64 * 1024
/** Longest list, unless its schema sets another maximum (contract §9). */
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
  const errors = findOversized(value, limitsOf(schema), MAX_ARGUMENT_LENGTH)
  return errors.length > 0 ? { errors } : parse(schema, value, '')
}

/** Finds texts and lists of inputs or outputs that are too long. Unknown fields do not count: nobody reads them. */
export function findOversizedInputs(
  schema: z.ZodObject,
  values: Record<string, unknown>,
  base: string,
): FieldError[] {
  const known = Object.fromEntries(Object.keys(schema.shape).map((name) => [name, values[name]]))
  return findOversized(known, limitsOf(schema), MAX_INPUT_LENGTH, base)
}

/** Parses the inputs or the outputs of a deployment. */
export function parseInputs<Schema extends z.ZodObject>(
  schema: Schema,
  values: Record<string, unknown>,
  base: string,
): ParsedFields<Schema> {
  const errors = findOversizedInputs(schema, values, base)
  return errors.length > 0 ? { errors } : parse(schema, values, base)
}

function parse<Schema extends z.ZodObject>(
  schema: Schema,
  value: unknown,
  base: string,
): ParsedFields<Schema> {
  const { success, data, error } = schema.safeParse(value)
  return success ? { data } : { errors: fieldErrors(error, base, Object.keys(schema.shape)), cause: error }
}

/** The limits of a value and of the values inside it. */
interface Limits {
  maxLength: number
  maxItems: number | undefined
  fields: ReadonlyMap<string, Limits>
  /** The limits of list entries, and of fields without limits of their own. */
  others: Limits | undefined
  /** Whether its function checks it. */
  skipped: boolean
}

const compiled = new WeakMap<z.ZodType, Limits>()

/** The limits in the JSON Schema of a schema: what the manifest shows is what is checked. */
function limitsOf(schema: z.ZodType): Limits {
  const limits =
    compiled.get(schema) ??
    toLimits([
      z.toJSONSchema(schema, {
        io: 'input',
        override({ zodSchema, jsonSchema }) {
          if (isParsedByFunction(zodSchema)) jsonSchema[SKIPPED] = true
        },
      }),
    ])
  compiled.set(schema, limits)
  return limits
}

type JsonSchema = z.core.JSONSchema._JSONSchema
const SKIPPED = 'x-parsed-by-function'

/** The limits of a value that may have one of these schemas. */
function toLimits(schemas: readonly JsonSchema[]): Limits {
  const options = schemas.flatMap(alternatives)
  const names = new Set(options.flatMap(({ properties }) => Object.keys(properties ?? {})))
  const inside = (pick: (schema: z.core.JSONSchema.BaseSchema) => unknown) =>
    options.flatMap(pick).filter(isSchema)
  const others = inside(({ items, additionalProperties }) => [items, additionalProperties])
  const maxItems = options.flatMap(({ maxItems = [] }) => maxItems)
  return {
    // A schema itself refuses a text that is too long at little cost.
    maxLength: Math.max(...options.flatMap(({ maxLength }) => maxLength ?? 0)),
    maxItems: maxItems.length > 0 ? Math.max(...maxItems) : undefined,
    fields: new Map(
      [...names].map((name) => [name, toLimits(inside(({ properties }) => properties?.[name]))]),
    ),
    others: others.length > 0 ? toLimits(others) : undefined,
    skipped: options.some((option) => option[SKIPPED] === true),
  }
}

function isSchema(value: unknown): value is z.core.JSONSchema.BaseSchema {
  return typeof value === 'object' && value !== null
}

function alternatives(schema: JsonSchema): z.core.JSONSchema.BaseSchema[] {
  if (typeof schema === 'boolean') return []
  const { anyOf = [], oneOf = [], allOf = [] } = schema
  return [schema, ...[...anyOf, ...oneOf, ...allOf].flatMap(alternatives)]
}

function findOversized(value: unknown, limits: Limits, maxLength: number, base = ''): FieldError[] {
  const errors: FieldError[] = []
  const path: PropertyKey[] = []
  const fault = (message: string) => void errors.push({ path: joinPath(base, path), message })

  function visit(value: unknown, limits: Limits | undefined): void {
    if (limits?.skipped) return
    if (typeof value === 'string') {
      const most = Math.max(maxLength, limits?.maxLength ?? 0)
      if (value.length > most) fault(`is longer than ${withCommas(most)} characters`)
      return
    }
    if (typeof value !== 'object' || value === null || errors.length >= MAX_FAULTS) return
    if (Array.isArray(value)) {
      const most = limits?.maxItems ?? MAX_ITEMS
      if (value.length > most) {
        fault(`may have ${withCommas(most)} entries, but has ${withCommas(value.length)}`)
        return
      }
      for (let index = 0; index < value.length; index += 1) visitAt(index, value[index], limits?.others)
      return
    }
    for (const [name, member] of Object.entries(value))
      visitAt(name, member, limits?.fields.get(name) ?? limits?.others)
  }

  function visitAt(key: PropertyKey, member: unknown, limits: Limits | undefined): void {
    path.push(key)
    visit(member, limits)
    path.pop()
  }

  visit(value, limits)
  return errors
}
