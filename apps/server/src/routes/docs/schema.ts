/**
 * Reads a JSON Schema for people: its fields and their types.
 *
 * @module
 */
import type { JsonSchema, OpenApiDocument, OpenApiParameter } from '@org/core/internal'
import * as z from 'zod'

const anySchema = z.record(z.string(), z.unknown())

const schemaNode = z.object({
  $ref: z.string().optional(),
  type: z.union([z.string(), z.array(z.string())]).optional(),
  description: z.string().optional(),
  properties: z.record(z.string(), anySchema).optional(),
  required: z.array(z.string()).default([]),
  items: anySchema.optional(),
  additionalProperties: z.union([z.boolean(), anySchema]).optional(),
  anyOf: z.array(anySchema).optional(),
  oneOf: z.array(anySchema).optional(),
  enum: z.array(z.unknown()).optional(),
  const: z.unknown().optional(),
  default: z.unknown().optional(),
  format: z.string().optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  maxLength: z.number().optional(),
  'x-sensitive': z.boolean().default(false),
  'x-environment-reference': z.boolean().default(false),
})

/** The parts of a schema that the page shows. */
export type SchemaNode = z.infer<typeof schemaNode>

/** The type of a field: words and names of shapes. */
export type TypeText = ({ word: string } | { shape: string })[]

/** One field. */
export interface Field {
  /** The path to the field, such as `attachments[].`; empty at the top. */
  within: string
  name: string
  required: boolean
  type: TypeText
  description: string
  /** The allowed values. */
  values: string[]
  /** As JSON. */
  default: string | undefined
  sensitive: boolean
  /** Whether it may be `{{env.NAME}}`. */
  reference: boolean
}

const words: Readonly<Record<string, string>> = {
  uri: 'URL',
  'date-time': 'time',
  date: 'day',
  base64: 'base64',
}

/** Reads a schema. */
export function readSchema(schema: JsonSchema): SchemaNode {
  return schemaNode.parse(schema)
}

/** The schema with a name. */
export function findShape(document: OpenApiDocument, name: string): SchemaNode {
  return readSchema(document.components.schemas[name] ?? {})
}

/** The name at the end of a reference. */
export function shapeOf({ $ref }: { $ref: string }): string {
  return $ref.replace(/.*\//, '')
}

/** The fields of an object and of the objects inside it. */
export function fieldsOf(schema: SchemaNode, within = ''): Field[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
    const outer = readSchema(property)
    const node = withoutBlank(outer)
    const values = node.enum ?? readSchema(node.items ?? {}).enum ?? []
    const field: Field = {
      within,
      name,
      required: schema.required.includes(name),
      type: toType(node),
      description: outer.description ?? node.description ?? '',
      values: values.map(String),
      default: node.default === undefined ? undefined : JSON.stringify(node.default),
      sensitive: node['x-sensitive'],
      reference: node['x-environment-reference'],
    }
    const { inner, list } = innerObject(node)
    return [field, ...(inner ? fieldsOf(inner, `${within}${name}${list ? '[]' : ''}.`) : [])]
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

/** The object inside a field or inside its list. */
function innerObject(node: SchemaNode): { inner: SchemaNode | undefined; list: boolean } {
  const [only, ...others] = (node.anyOf ?? []).map(readSchema).filter(({ type }) => type !== 'null')
  const bare = only && others.length === 0 ? only : node
  if (bare.properties) return { inner: bare, list: false }
  const item = bare.items && readSchema(bare.items)
  return { inner: item?.properties ? item : undefined, list: true }
}

/** A field of a form without the choice to leave it blank. */
function withoutBlank(node: SchemaNode): SchemaNode {
  const [first, second] = node.anyOf ?? []
  const isBlank = second !== undefined && readSchema(second).$ref?.endsWith('/Blank')
  return first && isBlank ? readSchema(first) : node
}

/** The type of a field. */
export function toType(node: SchemaNode): TypeText {
  if (node.$ref !== undefined) return [{ shape: shapeOf({ $ref: node.$ref }) }]
  if (node.enum) return [{ word: node.enum.every((each) => typeof each === 'string') ? 'text' : 'value' }]
  if (node.const !== undefined) return [{ word: JSON.stringify(node.const) }]
  const choices = node.anyOf ?? node.oneOf
  if (choices) {
    const types = choices.map((each) => toType(readSchema(each)))
    return types.flatMap((type, index) => (index === 0 ? type : [{ word: ' or ' }, ...type]))
  }
  if (Array.isArray(node.type)) {
    return node.type.flatMap((type, index) => [
      ...(index === 0 ? [] : [{ word: ' or ' }]),
      { word: nameOf(type, node) },
    ])
  }
  if (node.type === 'array') return [{ word: 'list of ' }, ...toType(readSchema(node.items ?? {}))]
  return [{ word: nameOf(node.type ?? 'anything', node) }]
}

function nameOf(
  type: string,
  { format = '', minimum, maximum, properties, additionalProperties }: SchemaNode,
): string {
  switch (type) {
    case 'string':
      return words[format] ?? 'text'
    case 'boolean':
      return 'yes or no'
    case 'object': {
      if (properties || typeof additionalProperties !== 'object') return 'object'
      return readSchema(additionalProperties).type === 'string' ? 'texts by name' : 'values by name'
    }
    case 'integer':
    case 'number':
      return `${type === 'integer' ? 'whole number' : 'number'}${rangeOf(minimum, maximum)}`
    default:
      return type
  }
}

/** A character that prevents a line break. */
const GLUE = '\u2060'

/** The range of a number, unless it is the range of all numbers. */
function rangeOf(minimum = -Infinity, maximum = Infinity): string {
  const least = minimum > Number.MIN_SAFE_INTEGER ? minimum : undefined
  const most = maximum < Number.MAX_SAFE_INTEGER ? maximum : undefined
  if (least !== undefined && most !== undefined) return ` ${least}${GLUE}–${GLUE}${most}`
  if (least !== undefined) return ` ≥\u00a0${least}`
  return most === undefined ? '' : ` ≤\u00a0${most}`
}
