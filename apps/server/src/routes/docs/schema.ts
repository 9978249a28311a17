/** Reads the JSON Schemas of the document for people. */
import type { OpenApiDocument } from '@org/core/hosting'

/** The parts of a schema that the page shows. */
export interface Schema {
  $ref?: string
  type?: string | string[]
  description?: string
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: Schema
  items?: Schema
  anyOf?: Schema[]
  oneOf?: Schema[]
  enum?: unknown[]
  const?: unknown
  default?: unknown
  format?: string
  minimum?: number
  maximum?: number
  sensitive?: boolean
  environmentReference?: boolean
  immutable?: boolean
  discriminator?: { mapping: Record<string, string> }
  'x-effect'?: boolean
}

/** Finds the schema behind a reference. */
export type Find = (schema: Schema | undefined) => Schema

/** The name at the end of a reference. */
export const nameOf = ({ $ref = '' }: Schema): string => $ref.slice($ref.lastIndexOf('/') + 1)

/** Makes the function that follows the references of a document. */
export function createFind({ schemas }: OpenApiDocument['components']): Find {
  return function find({ $ref, ...rest } = {}): Schema {
    return $ref === undefined ? rest : { ...find(Object(schemas[nameOf({ $ref })])), ...rest }
  }
}

/** The fields of an object, and of the objects inside it, each with its path: `attachments[].name`. */
export function fieldsOf(
  { properties = {}, required = [] }: Schema,
  find: Find,
  within = '',
): { path: string; isRequired: boolean; field: Schema }[] {
  return Object.entries(properties).flatMap(([name, reference]) => {
    const { anyOf = [], ...rest } = find(reference)
    const path = `${within}${name}`
    const choices = anyOf.map(find)
    const [only, ...others] = choices.filter(({ type }) => type !== 'null')
    const bare = others.length === 0 ? { ...only, ...rest } : rest
    const field = choices.length > 1 ? { ...bare, anyOf: choices } : bare
    const inner = bare.items
      ? fieldsOf(find(bare.items), find, `${path}[].`)
      : fieldsOf(bare, find, `${path}.`)
    return [{ path, isRequired: required.includes(name), field }, ...inner]
  })
}

/** The type of a field, in words. */
export function typeOf({
  type = 'any',
  format,
  minimum = -Infinity,
  maximum = Infinity,
  ...rest
}: Schema): string {
  const choices = rest.anyOf ?? (type === 'string' ? undefined : rest.oneOf)
  if (choices) return choices.map(typeOf).join(' or ')
  if (rest.const !== undefined) return JSON.stringify(rest.const)
  if (rest.items) return `array of ${typeOf(rest.items)}`
  const least = minimum > Number.MIN_SAFE_INTEGER ? ` ≥ ${minimum}` : ''
  const most = maximum < Number.MAX_SAFE_INTEGER ? ` ≤ ${maximum}` : ''
  const values = rest.additionalProperties?.type === 'string' ? ' of strings' : ''
  return `${[type].flat().join(' or ')}${values}${format ? ` (${format})` : ''}${least}${most}`
}
