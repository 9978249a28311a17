// Marks on the fields of a schema. Redaction, the manifest and the OpenAPI document read them, as JSON Schema.

import * as z from 'zod'

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

/**
 * Makes the schema of a token: a text that an HTTP header can hold. A form accepts `{{env.NAME}}` in it, too, so mark
 * it with {@link environmentReference}.
 */
export function token() {
  return z
    .string()
    .trim()
    .refine(
      (text) => /^[!-~]+$/.test(text),
      'contains a space or another character that no token has: copy it again',
    )
    .meta({ pattern: String.raw`^\s*(?:${CHARACTERS}|${REFERENCE})+\{?\s*$` })
}

/** Extends the pattern of a form by texts with `{{env.NAME}}`, for a field with {@link environmentReference}. */
export function orReference(pattern: string): string {
  return String.raw`${pattern}|^(?:${CHARACTERS})*${REFERENCE}(?:${CHARACTERS}|${REFERENCE})*\{?$`
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

/** The names of the fields that are marked {@link secret}. */
export const secretNames = createFinder('writeOnly')

/** The names of the fields that are marked {@link environmentReference}. */
export const referenceNames = createFinder('environmentReference')

function createFinder(mark: string): (schema: z.ZodObject) => string[] {
  // Schemas do not change, and every event asks for the marks of several.
  const known = new WeakMap<z.ZodObject, string[]>()
  return (schema) => {
    const names =
      known.get(schema) ?? Object.keys(schema.shape).filter((name) => isMarked(schema.shape[name], mark))
    known.set(schema, names)
    return names
  }
}

function isMarked(schema: z.core.$ZodType, mark: string): boolean {
  if (z.globalRegistry.get(schema)?.[mark] === true) return true
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodNullable) {
    return isMarked(schema.unwrap(), mark)
  }
  return false
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
  const { data } = labelled.safeParse(schema)
  if (!data) return
  delete schema.labels
  delete schema.enum
  // A choice with a title: every form library shows it.
  schema.oneOf = Object.entries(data.labels).map(([value, title]) => ({ const: value, title }))
}
