// Marks on the fields of a schema. Redaction, the manifest and the OpenAPI document read them, as JSON Schema.

import * as z from 'zod'
import type { FieldError } from '../errors.ts'

/** Marks a value as secret: logs, problems and recorded responses leave it out, and outputs list it as sensitive. */
export function secret<Schema extends z.ZodType>(schema: Schema): Schema {
  return schema.meta({ ...schema.meta(), writeOnly: true })
}

/** Marks an input in which `{{env.NAME}}` is replaced by a variable of the host (specification §2.4). */
export function environmentReference<Schema extends z.ZodType>(schema: Schema): Schema {
  return schema.meta({ ...schema.meta(), environmentReference: true })
}

/** Marks an input that a redeploy cannot change. */
export function immutable<Schema extends z.ZodType>(schema: Schema): Schema {
  return schema.meta({ ...schema.meta(), immutable: true })
}

// Patterns for forms, in the syntax that every engine and every mode reads: no look-ahead.
const REFERENCE = String.raw`\{\{\s*env\.[A-Za-z_][A-Za-z0-9_]{0,127}\s*\}\}`
/** Characters of a token that begin no reference. */
const CHARACTERS = String.raw`[!-z\|\}~]|\{[!-z\|\}~]`
/** The pattern of a text that is not blank. */
export const FILLED = String.raw`\S`
/** A text with a reference. */
const WITH_REFERENCE = String.raw`^\s*(?:${CHARACTERS})*${REFERENCE}(?:${CHARACTERS}|${REFERENCE})*\{?\s*$`

/** Makes the schema of a token: a text that an HTTP header can hold. */
export function token() {
  return z
    .string()
    .trim()
    .refine(
      (text) => /^[!-~]+$/.test(text),
      'contains a space or another character that no token has: copy it again',
    )
    .meta({ pattern: String.raw`^\s*(?:${CHARACTERS})+\{?\s*$` })
}

const parsedByFunctions = new WeakSet<z.core.$ZodType>()

/** Marks an argument that its function parses and checks itself, such as one message of many. */
export function parsedByFunction<Schema extends z.ZodType>(schema: Schema): Schema {
  parsedByFunctions.add(schema)
  return schema
}

/** Whether a schema is marked {@link parsedByFunction}. */
export function isParsedByFunction(schema: z.core.$ZodType): boolean {
  return parsedByFunctions.has(schema)
}

/** A schema within a schema. */
interface Place {
  schema: z.core.$ZodType
  /** Names of fields, and `*` for each entry of a list or a record. */
  path: readonly string[]
  /** What stands around it and hides its values, such as a transform. */
  within?: string | undefined
  /** Its side of each transform around it. */
  sides: readonly string[]
}

/** The kinds of schemas whose parts have a place in the data. */
const FOLLOWED = new Set<string>([
  ...['object', 'array', 'tuple', 'record', 'union', 'intersection', 'optional', 'nullable'],
  ...['nonoptional', 'default', 'prefault', 'catch', 'readonly'],
])
/** The parts of a schema that describe each entry of its data. */
const ENTRIES = ['element', 'items', 'rest', 'valueType', 'catchall']
/** Kinds of schemas whose values JSON cannot hold, or that no JSON Schema describes. */
const UNDESCRIBED = new Set<string>([
  ...['date', 'bigint', 'symbol', 'undefined', 'void', 'nan', 'map', 'set', 'function', 'promise', 'file'],
  ...['custom', 'transform'],
])

/** The parts of a schema, each with its name in the data, if it has one there. */
function* partsOf(schema: z.core.$ZodType) {
  const { type: _type, error: _error, checks: _checks, ...kinds } = schema._zod.def
  const lazy = schema instanceof z.core.$ZodLazy ? { inner: schema._zod.innerType } : {}
  for (const [kind, value] of Object.entries<unknown>({ ...kinds, ...lazy })) {
    const names = ENTRIES.includes(kind) ? ['*'] : []
    const fields: (readonly [string[], unknown])[] =
      kind === 'shape'
        ? Object.entries(Object(value)).map(([name, field]) => [[name], field])
        : [value].flat().map((part) => [names, part])
    for (const [names, part] of fields) if (part instanceof z.core.$ZodType) yield { kind, names, part }
  }
}

/** The schema and all schemas in it. */
function* placesIn(place: Place, around: readonly z.core.$ZodType[] = []): Generator<Place> {
  yield place
  const { schema, path, within, sides } = place
  const { type } = schema._zod.def
  const repeats = around.filter((each) => each === schema).length
  if (repeats > 1) return
  const isPipe = type === 'pipe'
  const kindOf = FOLLOWED.has(type) ? undefined : isPipe ? 'transform' : type
  const hiding = repeats > 0 ? 'schema that contains itself' : kindOf
  for (const { kind, names, part } of partsOf(schema)) {
    const hidden = within ?? hiding ?? (kind === 'keyType' ? 'key of a record' : undefined)
    const inner = {
      schema: part,
      path: [...path, ...names],
      within: hidden,
      sides: isPipe ? [...sides, kind] : sides,
    }
    yield* placesIn(inner, [...around, schema])
  }
}

const isMarked = (mark: string, { schema }: Place) => z.globalRegistry.get(schema)?.[mark] === true

/**
 * The paths of the values that are marked {@link secret}, at any depth: `apiToken`, `connection.uri`, or
 * `users.*.password` for each entry of a list or a record. The path of the whole value is empty.
 */
export const secretPaths = createFinder('writeOnly')

/** The paths of the values that are marked {@link environmentReference}. */
export const referencePaths = createFinder('environmentReference')

function createFinder(mark: string): (schema: z.ZodType) => readonly string[] {
  // Schemas do not change, and every event asks for the marks of several.
  const known = new WeakMap<z.ZodType, string[]>()
  return (schema) => {
    const found = known.get(schema)
    if (found) return found
    const places = [...placesIn({ schema, path: [], sides: [] })].filter((place) => isMarked(mark, place))
    const hidden = places.find((place) => whyHidden(place))
    if (hidden) throw new TypeError(`${hidden.path.join('.')} ${whyHidden(hidden)}`)
    const paths = [...new Set(places.map(({ path }) => path.join('.')))]
    known.set(schema, paths)
    return paths
  }
}

/** Why core would not find the values of a marked schema. */
function whyHidden({ path, within }: Place): string | undefined {
  const misnamed = path.find((name) => name !== '*' && /[.*]/.test(name))
  if (misnamed !== undefined) return `has the name “${misnamed}”, and no path can have a “.” or “*”`
  return within && `is marked within a ${within}, where its values are not found: mark the ${within} instead`
}

/** Finds marks of a schema that have no effect, and values that JSON cannot hold. */
export function findSchemaFaults(base: string, schema: z.ZodType, io: Direction): FieldError[] {
  return [...placesIn({ schema, path: [], sides: [] })].flatMap((place) => {
    const { type } = place.schema._zod.def
    const isReference = isMarked('environmentReference', place)
    // JSON has what stands on one side of a transform.
    const isInJson = place.sides.every((side) => side === (io === 'input' ? 'in' : 'out'))
    const reasons = [
      (isReference || isMarked('writeOnly', place)) && whyHidden(place),
      isReference &&
        base !== 'inputs' &&
        'is marked with environmentReference(), which has an effect in inputs alone',
      isInJson &&
        UNDESCRIBED.has(type) &&
        !(io === 'input' && type === 'transform') &&
        `is a ${type}, which JSON Schema does not describe: declare what the JSON holds`,
    ]
    const path = [base, ...place.path].join('.')
    return reasons.flatMap((message) => (message ? { path, message } : []))
  })
}

/** The names of the outputs that are secrets or hold some. */
export function secretOutputs(outputs: z.ZodObject): ReadonlySet<string> {
  return new Set(secretPaths(outputs).map((path) => path.replace(/\..*/, '')))
}

/** The values of the secrets of a schema in data that it describes. */
export function secretsIn(schema: z.ZodType, data: unknown): unknown[] {
  return secretPaths(schema).flatMap((path) => valuesAt(data, path))
}

/** The values at a path of {@link secretPaths}. */
export function valuesAt(data: unknown, path: string): unknown[] {
  const found: unknown[] = []
  replaceAt(data, path, (value) => void found.push(value))
  return found
}

/** Data with the values at a path of {@link secretPaths} replaced. */
export function replaceAt(
  data: unknown,
  path: string,
  replace: (value: unknown, place: readonly PropertyKey[]) => unknown,
): unknown {
  const names = path === '' ? [] : path.split('.')
  function visit(value: unknown, place: readonly PropertyKey[]): unknown {
    const name = names[place.length]
    if (name === undefined) return replace(value, place)
    if (typeof value !== 'object' || value === null) return value
    const inner = (key: string | number, each: unknown) =>
      name === '*' || name === key ? visit(each, [...place, key]) : each
    if (Array.isArray(value)) return value.map((each, index) => inner(index, each))
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, inner(key, each)]))
  }
  return visit(data, [])
}

/** The schema of a JSON Schema. */
export const jsonSchema = z.record(z.string(), z.unknown()).describe('A JSON Schema (2020-12).')

export type JsonSchema = z.infer<typeof jsonSchema>

/** `input`: as a request has it. `output`: as a response has it. */
export type Direction = 'input' | 'output'

/** Converts a schema to JSON Schema. */
export function toJsonSchema(schema: z.ZodType, io: Direction): JsonSchema {
  const override = ({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }) => adapt(jsonSchema, io)
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, override })
  return rest
}

const labelled = z.object({ labels: z.record(z.string(), z.string()) })

/**
 * Writes the marks of a schema in the words of JSON Schema, where it has some, and leaves responses open: a client that
 * validates them must survive a new field.
 */
function adapt(schema: z.core.JSONSchema.BaseSchema, io: Direction): void {
  if (io === 'output' && schema.additionalProperties === false) delete schema.additionalProperties
  if (schema.writeOnly) {
    schema.sensitive = true
    // OpenAPI forbids it in a response.
    if (io === 'output') delete schema.writeOnly
  }
  if (io === 'input') allowReferences(schema)
  const { data } = labelled.safeParse(schema)
  if (!data) return
  delete schema.labels
  delete schema.enum
  // A choice with a title: every form library shows it.
  schema.oneOf = Object.entries(data.labels).map(([value, title]) => ({ const: value, title }))
}

const asked = z.looseObject({ properties: z.record(z.string(), z.looseObject({})) })

/** Lets a form take `{{env.NAME}}` where the host does, whatever else the text must look like. */
function allowReferences(schema: z.core.JSONSchema.BaseSchema): void {
  if (schema.environmentReference === true) allowReference(schema)
  const { data } = asked.safeParse(schema.then)
  if (!data) return
  for (const [name, field] of Object.entries(data.properties))
    if (Object(schema.properties?.[name]).environmentReference === true) allowReference(field)
  // biome-ignore lint/suspicious/noThenProperty: the word is JSON Schema's.
  schema.then = data
}

function allowReference(schema: z.core.JSONSchema.BaseSchema): void {
  for (const limit of ['minLength', 'maxLength', 'format']) delete schema[limit]
  const { pattern } = schema
  const isClosed = pattern !== undefined && pattern !== FILLED && !pattern.endsWith(WITH_REFERENCE)
  if (isClosed) schema.pattern = `${pattern}|${WITH_REFERENCE}`
  for (const part of schema.allOf ?? []) allowReference(part)
}
