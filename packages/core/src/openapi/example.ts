/**
 * Values that fit a schema, for those who read about it.
 *
 * @module
 */
import type * as z from 'zod'
import { type JsonSchema, toJsonSchema } from '../contract/manifest.ts'

/** A value that fits: the first of the schema’s own examples, else one with what is required and no more. */
export function exampleOf(schema: z.ZodType): unknown {
  const examples = schema.meta()?.examples
  return Array.isArray(examples) ? examples[0] : invent(toJsonSchema(schema, 'input'))
}

function invent(schema: JsonSchema): unknown {
  const { examples, enum: values, anyOf, oneOf } = schema
  for (const choices of [examples, values]) if (Array.isArray(choices)) return choices[0]
  if ('const' in schema) return schema.const
  if ('default' in schema) return schema.default
  for (const schemas of [anyOf, oneOf]) if (Array.isArray(schemas)) return invent(asSchema(schemas[0]))
  switch (schema.type) {
    case 'object': {
      const properties = asSchema(schema.properties)
      const required = Array.isArray(schema.required) ? schema.required.map(String) : []
      return Object.fromEntries(required.map((name) => [name, invent(asSchema(properties[name]))]))
    }
    case 'array':
      return [invent(asSchema(schema.items))]
    case 'boolean':
      return true
    case 'integer':
    case 'number':
      return 1
    default:
      return texts[String(schema.format)] ?? 'text'
  }
}

const texts: Readonly<Record<string, string>> = {
  uri: 'https://example.com',
  date: '2026-11-20',
  'date-time': '2026-11-20T09:00:00Z',
  email: 'ada@example.com',
}

function asSchema(value: unknown): JsonSchema {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}
