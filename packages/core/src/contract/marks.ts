// Marks on the fields of a schema. Redaction, the manifest and the OpenAPI document read them, as JSON Schema.

import * as z from 'zod'

/**
 * Marks a value as secret: logs, problems and recorded responses leave it out, and outputs list it as sensitive. It is a
 * text, or holds texts: core finds no numbers. It finds one that a handler makes in what the handler returns, and takes
 * it out of what the handler has logged by `context.log` before.
 */
export const secret = markWith('writeOnly')

/** Marks an input in which `{{env.NAME}}` is replaced by a variable of the host (specification §2.4). */
export const environmentReference = markWith('environmentReference')

/** Marks an input that a redeploy cannot change. */
export const immutable = markWith('immutable')

/** Marks an argument that its function parses and checks itself, such as one message of many. */
export const parsedByFunction = markWith('parsedByFunction')

function markWith(mark: string) {
  return <Schema extends z.ZodType>(schema: Schema): Schema => schema.meta({ ...schema.meta(), [mark]: true })
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

/** A schema within a JSON Schema. */
interface Place {
  schema: z.core.JSONSchema.BaseSchema
  /** Names of fields, and `*` for each entry of a list or a record. */
  path: readonly string[]
}

/** The schemas of all values that a schema describes. */
function placesOf(schema: z.ZodType, io: Direction): Place[] {
  const root = z.toJSONSchema(schema, {
    io,
    unrepresentable: ({ zodSchema }) => ({ unrepresentable: zodSchema._zod.def.type }),
    override({ zodSchema, jsonSchema }) {
      const { def } = zodSchema._zod
      if (io === 'output' || def.type !== 'pipe' || def.in._zod.def.type !== 'transform') return
      // zod describes what `z.preprocess` makes, but it takes anything.
      for (const keyword of Object.keys(jsonSchema)) delete jsonSchema[keyword]
      Object.assign(jsonSchema, z.globalRegistry.get(zodSchema))
    },
  })
  return [...placesIn({ schema: root, path: [] })]
}

function* placesIn(place: Place): Generator<Place> {
  yield place
  const { properties = {}, items, prefixItems = [], patternProperties = {}, ...schema } = place.schema
  const { allOf = [], anyOf = [], oneOf = [], additionalProperties } = schema
  const entries = [items, ...prefixItems, additionalProperties, ...Object.values(patternProperties)].flat()
  const parts = [
    ...Object.entries(properties).map(([name, part]) => ({ part, names: [name] })),
    ...entries.map((part) => ({ part, names: ['*'] })),
    ...[...allOf, ...anyOf, ...oneOf].map((part) => ({ part, names: [] })),
  ]
  for (const { part, names } of parts)
    if (typeof part === 'object') yield* placesIn({ schema: part, path: [...place.path, ...names] })
}

const nameOf = ({ path }: Place) => path.join('.')

const isMarked = ({ schema }: Pick<Place, 'schema'>) =>
  schema.writeOnly === true || schema.environmentReference === true

const keyOf = (place: Place) =>
  [nameOf(place), place.schema.writeOnly, place.schema.environmentReference].join()

/** Whether the values of a schema are or hold texts. */
const holdsTexts = (schema: Place['schema']) =>
  [...placesIn({ schema, path: [] })].some(({ schema: { type, anyOf, oneOf, allOf } }) =>
    type === undefined ? !(anyOf ?? oneOf ?? allOf) : type === 'string',
  )

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
    const marked = placesOf(schema, 'input').filter((place) => place.schema[mark] === true)
    const paths = [...new Set(marked.map(nameOf))]
    known.set(schema, paths)
    return paths
  }
}

/** Finds secrets of a schema that core would not find in data, and values that no JSON Schema describes in one place. */
export function findSchemaFaults(schema: z.ZodType, io: Direction): { path: string[]; message: string }[] {
  const places = { input: placesOf(schema, 'input'), output: placesOf(schema, 'output') }
  const faults: { path: string[]; message: string }[] = []
  const refuse = ({ path }: Place, message: string) => void faults.push({ path: [...path], message })
  // Core looks for the values at one path, before and after each transform.
  const marks = Object.values(places).map(
    (side) => new Map(side.filter(isMarked).map((at) => [keyOf(at), at])),
  )
  for (const [key, place] of marks.flatMap((side) => [...side]))
    if (!marks.every((side) => side.has(key)))
      refuse(place, 'is marked within a transform, where its values are not found: mark the transform')
  for (const place of places[io]) {
    const { unrepresentable: type, $ref, propertyNames, writeOnly } = place.schema
    const misnamed = isMarked(place) && place.path.find((name) => name !== '*' && /[.*]/.test(name))
    if (misnamed) refuse(place, `has the name “${misnamed}”, and no path can have a “.” or “*”`)
    if (writeOnly === true && !holdsTexts(place.schema))
      refuse(place, 'is marked with secret(), and core finds texts alone')
    if (typeof propertyNames === 'object' && isMarked({ schema: propertyNames }))
      refuse(place, 'has marked keys, and core looks at values alone')
    if (type !== undefined)
      refuse(place, `is a ${type}, which JSON Schema does not describe: declare what the JSON holds`)
    if ($ref !== undefined)
      refuse(
        place,
        'contains itself or has an id, which the OpenAPI document cannot have: z.unknown() describes any JSON',
      )
  }
  return faults
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
  delete schema.parsedByFunction
  // A choice with a title: every form library shows it, unless it finds an enum.
  if (schema.oneOf) delete schema.enum
  // The format has no letters beyond ASCII, and no white space around. The host takes both.
  if (schema.format === 'uri') delete schema.format
  if (io === 'input' && schema.environmentReference === true) allowReference(schema)
}

/** Lets a form take `{{env.NAME}}` where the host does, whatever else the text must look like. */
export function allowReference(schema: z.core.JSONSchema.BaseSchema): void {
  for (const limit of ['minLength', 'maxLength', 'format']) delete schema[limit]
  const { pattern } = schema
  const isClosed = pattern !== undefined && pattern !== FILLED && !pattern.endsWith(WITH_REFERENCE)
  if (isClosed) schema.pattern = `${pattern}|${WITH_REFERENCE}`
  for (const part of schema.allOf ?? []) allowReference(part)
}
