import * as z from 'zod'

const withExamples = z.object({ examples: z.array(z.record(z.string(), z.unknown())).default([]) })

/** The first of {@link examplesOf} a schema. */
export const exampleOf = (schema: z.ZodObject): Record<string, unknown> => examplesOf(schema)[0] ?? {}

/** The schema’s own examples, else its required fields with the examples of each. */
export function examplesOf(schema: z.ZodObject): Record<string, unknown>[] {
  const { examples } = withExamples.parse(schema.meta() ?? {})
  if (examples.length > 0) return examples
  const { required = [], properties = {} } = z.toJSONSchema(schema, { io: 'input' })
  const fields = required.map((name) => {
    const field: z.core.JSONSchema.BaseSchema = Object(properties[name])
    return [name, field.examples?.[0] ?? field.enum?.[0] ?? 'text']
  })
  return [Object.fromEntries(fields)]
}
