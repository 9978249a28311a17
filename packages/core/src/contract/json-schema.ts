import * as z from 'zod'

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
