import * as z from 'zod'
import { adapt, type Direction, type JsonSchema } from '../contract/json-schema.ts'
import type { Reference } from './document.ts'

/** See {@link createComponents}. */
export type Components = ReturnType<typeof createComponents>

/**
 * Collects the named schemas of requests (`input`) and responses (`output`). Each is written once; every other place
 * refers to it.
 */
export function createComponents() {
  const registries = { input: z.registry<{ id: string }>(), output: z.registry<{ id: string }>() }
  const taken = new Set<string>()

  /** Adds a schema under its title or the first free name. A schema that is already there keeps its name. */
  const adder = (direction: Direction) => {
    const registry = registries[direction]
    return (schema: z.ZodType, ...names: string[]): Reference => {
      const wanted = [schema.meta()?.title ?? [], names].flat()
      const id = registry.get(schema)?.id ?? wanted.find((name) => !taken.has(name))
      if (id === undefined) throw new Error(`Two schemas have the name ${wanted.join(' or ')}.`)
      if (!registry.has(schema)) registry.add(schema, { id })
      taken.add(id)
      return refer('schemas', id)
    }
  }

  const convert = (io: Direction) => {
    const uri = (id: string) => refer('schemas', id).$ref
    const { schemas } = z.toJSONSchema(registries[io], {
      io,
      uri,
      override: ({ jsonSchema }) => adapt(jsonSchema, io),
    })
    return Object.entries(schemas).map(([name, { $schema: _, $id: _id, ...rest }]) => [name, rest] as const)
  }

  return {
    input: adder('input'),
    output: adder('output'),
    /** @throws {Error} if JSON Schema cannot represent a schema */
    toSchemas: () => shareTitled(Object.fromEntries([...convert('input'), ...convert('output')])),
  }
}

/** The reference to a component. */
export function refer(kind: 'schemas' | 'responses' | 'parameters' | 'headers', name: string): Reference {
  return { $ref: `#/components/${kind}/${name}` }
}

/** `idp-server` as `IdpServer`, `sendEmail` as `SendEmail`, and `HEALTH_CHECK` as `HealthCheck`. */
export function toPascalCase(name: string): string {
  const words = name.includes('_') ? name.toLowerCase() : name
  return words
    .split(/[^A-Za-z0-9]+/)
    .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join('')
}

/** Keywords whose value is data, not a schema. */
const DATA_KEYWORDS: ReadonlySet<string> = new Set(['const', 'default', 'discriminator', 'enum', 'examples'])

/** Moves each nested schema with a title to the top, and leaves a reference. Of two with one title, the first. */
function shareTitled(schemas: Readonly<Record<string, JsonSchema>>): Record<string, JsonSchema> {
  const shared = new Map<string, JsonSchema>()
  const share = (name: string, schema: object) => {
    const written = shared.get(name) ?? visitMembers(schema)
    shared.set(name, written)
    return written
  }
  const visitMembers = (schema: object): JsonSchema =>
    Object.fromEntries(
      Object.entries(schema).map(([key, value]) => [key, DATA_KEYWORDS.has(key) ? value : visit(value)]),
    )
  const visit = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(visit)
    if (typeof value !== 'object' || value === null) return value
    const written = visitMembers(value)
    const { title } = written
    // A field has a title, too, for forms.
    const isShared =
      typeof title === 'string' &&
      written.type === 'object' &&
      isSame(share(title, schemas[title] ?? value), written)
    return isShared ? refer('schemas', title) : written
  }
  for (const [name, schema] of Object.entries(schemas)) share(name, schema)
  return Object.fromEntries([...shared].sort(([one], [other]) => (one < other ? -1 : 1)))
}

/** Whether two schemas accept the same values; their examples may differ. */
function isSame({ examples: _one, ...one }: JsonSchema, { examples: _other, ...other }: JsonSchema): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}
