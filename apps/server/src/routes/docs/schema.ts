/** Reads a JSON Schema for people: its fields and their types. */
import type { OpenApiDocument, OpenApiParameter } from '@org/core/internal'
import * as z from 'zod'

const schemaNode = z.object({
  $ref: z.string().optional(),
  type: z.union([z.string(), z.array(z.string())]).optional(),
  description: z.string().optional(),
  required: z.array(z.string()).default([]),
  enum: z.array(z.unknown()).optional(),
  const: z.unknown().optional(),
  default: z.unknown().optional(),
  examples: z.array(z.unknown()).optional(),
  pattern: z.string().optional(),
  format: z.string().default(''),
  minimum: z.number().default(Number.NEGATIVE_INFINITY),
  maximum: z.number().default(Number.POSITIVE_INFINITY),
  sensitive: z.boolean().default(false),
  environmentReference: z.boolean().default(false),
  get properties() {
    return z.record(z.string(), schemaNode).optional()
  },
  get items() {
    return schemaNode.optional()
  },
  get additionalProperties() {
    return z.union([z.boolean(), schemaNode]).optional()
  },
  get anyOf() {
    return z.array(schemaNode).optional()
  },
  get oneOf() {
    return z.array(schemaNode).optional()
  },
})

/** The parts of a schema that the page shows. */
export type SchemaNode = z.infer<typeof schemaNode>

/** The type of a field: words, and names of shapes. */
export type TypeText = (string | { shape: string })[]

export interface Field {
  /** The path to the field, such as `attachments[].`; empty at the top. */
  within: string
  name: string
  required: boolean
  description: string
  node: SchemaNode
}

export function readSchema(schema: unknown): SchemaNode {
  return schemaNode.parse(schema)
}

export function findShape(document: OpenApiDocument, name: string): SchemaNode {
  return readSchema(document.components.schemas[name] ?? {})
}

/** The name at the end of a reference. */
export function shapeOf($ref: string): string {
  return $ref.slice($ref.lastIndexOf('/') + 1)
}

/** The fields of an object and of the objects inside it. */
export function fieldsOf({ properties = {}, required }: SchemaNode, within = ''): Field[] {
  return Object.entries(properties).flatMap(([name, whole]) => {
    // A form may leave an optional field blank; the page does not show that choice.
    const [first, second] = whole.anyOf ?? []
    const node = first && second?.$ref?.endsWith('/Blank') ? first : whole
    const description = whole.description ?? node.description ?? ''
    const field = { within, name, required: required.includes(name), description, node }
    const [only, ...others] = (node.anyOf ?? []).filter(({ type }) => type !== 'null')
    const bare = only && others.length === 0 ? only : node
    if (bare.properties) return [field, ...fieldsOf(bare, `${within}${name}.`)]
    return [field, ...(bare.items ? fieldsOf(bare.items, `${within}${name}[].`) : [])]
  })
}

/** The parameters of an operation, as fields. */
export function parameterFields(parameters: readonly OpenApiParameter[]): Field[] {
  return parameters.flatMap(({ name, required, description, schema }) =>
    fieldsOf(
      readSchema({ properties: { [name]: { ...schema, description } }, required: required ? [name] : [] }),
    ),
  )
}

/** The type of a field. */
export function toType(node: SchemaNode): TypeText {
  if (node.$ref !== undefined) return [{ shape: shapeOf(node.$ref) }]
  if (node.enum) return [node.enum.every((each) => typeof each === 'string') ? 'string' : 'any']
  if (node.type === 'string' && node.oneOf) return ['string']
  if (node.const !== undefined) return [JSON.stringify(node.const)]
  const choices = node.anyOf ?? node.oneOf
  if (choices) return joined(choices.map(toType))
  if (node.type === 'array') return ['array of ', ...(node.items ? toType(node.items) : ['any'])]
  return joined([node.type ?? 'any'].flat().map((type) => [nameOf(type, node)]))
}

function joined(types: readonly TypeText[]): TypeText {
  return types.flatMap((type, index) => (index === 0 ? type : [' or ', ...type]))
}

const formats: Readonly<Record<string, string>> = {
  uri: 'string (URL)',
  'date-time': 'string (date-time)',
  date: 'string (date)',
  base64: 'string (base64)',
}

function nameOf(type: string, node: SchemaNode): string {
  switch (type) {
    case 'string':
      return formats[node.format] ?? 'string'
    case 'object': {
      if (node.properties || typeof node.additionalProperties !== 'object') return 'object'
      return node.additionalProperties.type === 'string' ? 'object of strings' : 'object'
    }
    case 'integer':
      return `integer${rangeOf(node)}`
    case 'number':
      return `number${rangeOf(node)}`
    default:
      return type
  }
}

/** A character that prevents a line break. */
const GLUE = '\u2060'

/** The range of a number, unless it is the range of all numbers. */
function rangeOf({ minimum, maximum }: SchemaNode): string {
  const hasMinimum = minimum > Number.MIN_SAFE_INTEGER
  const hasMaximum = maximum < Number.MAX_SAFE_INTEGER
  if (hasMinimum && hasMaximum) return ` ${minimum}${GLUE}–${GLUE}${maximum}`
  if (hasMinimum) return ` ≥\u00a0${minimum}`
  return hasMaximum ? ` ≤\u00a0${maximum}` : ''
}
