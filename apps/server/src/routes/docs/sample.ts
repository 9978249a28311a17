/** A response as its schema describes it, for readers. */
import type { OpenApiDocument } from '@org/core/internal'
import type { Entry } from './plan.ts'
import { findShape, type SchemaNode, shapeOf } from './schema.ts'

const formats: Readonly<Record<string, string>> = {
  uri: 'https://example.com',
  'date-time': '2026-11-20T09:00:00Z',
  date: '2026-11-20',
}

/** Stands for any text. */
const UNKNOWN = '…'

/** The usual response to the example of an entry. A field that the example has, too, has the same value. */
export function sampleResponse(document: OpenApiDocument, { event, example }: Entry): unknown {
  const known = fieldsIn(example)
  const sample = (node: SchemaNode, name = ''): unknown => {
    if (node.$ref !== undefined) return sample(findShape(document, shapeOf(node.$ref)), name)
    if (node.const !== undefined) return node.const
    const [first] = node.enum ?? node.examples ?? []
    if (first !== undefined) return first
    const choice = (node.anyOf ?? node.oneOf)?.find(({ type }) => type !== 'null')
    if (choice) return sample(choice, name)
    switch ([node.type].flat()[0]) {
      case 'object':
        return Object.fromEntries(
          Object.entries(node.properties ?? {}).map(([field, inner]) => [field, sample(inner, field)]),
        )
      case 'array':
        return [node.items ? sample(node.items, name) : UNKNOWN].filter((item) => item !== UNKNOWN)
      case 'string':
        return known.get(name) ?? formats[node.format] ?? UNKNOWN
      case 'boolean':
        return false
      default:
        return Math.max(0, node.minimum)
    }
  }
  const [response] = event.responses
    .map(({ $ref }) => shapeOf($ref))
    .filter((name) => name !== 'IgnoredResponse')
  return response === undefined ? undefined : sample(findShape(document, response))
}

/** The texts in a value, by the names of their fields. */
function fieldsIn(value: unknown): Map<string, string> {
  const fields = new Map<string, string>()
  JSON.stringify(value, (name, inner) => {
    if (typeof inner === 'string') fields.set(name, inner)
    return inner
  })
  return fields
}
