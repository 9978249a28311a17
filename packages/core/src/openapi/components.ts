/**
 * The named schemas of an OpenAPI document: each is written once, and referred to wherever it occurs.
 *
 * @module
 */
import * as z from 'zod'
import type { JsonSchema } from '../contract/manifest.ts'
import { shareTitled } from './titles.ts'

/** A place of the document where something is written. */
export type Reference = { $ref: string }

/** Collects schemas under names that no other has. */
export interface Components {
  /**
   * Takes a schema that callers write. What is in it and has a title is taken, too.
   *
   * @param names those it may have, the best first; a schema with a title has that one
   * @returns where it will be; for one that was taken before, where that is
   */
  input(schema: z.ZodType, ...names: string[]): Reference
  /** Takes a schema that answers show. */
  output(schema: z.ZodType, ...names: string[]): Reference
  /** Gives a name to what is one or more of several. */
  anyOf(references: readonly Reference[], name: string): Reference
  /** @throws {Error} where a schema can't be said in JSON Schema */
  toSchemas(): Record<string, JsonSchema>
}

const directions = ['input', 'output'] as const
type Direction = (typeof directions)[number]
type Registry = z.core.$ZodRegistry<{ id: string }>

const PLACE = '#/components/schemas/'

/** Makes an empty collection. */
export function createComponents(): Components {
  const registries: Record<Direction, Registry> = { input: z.registry(), output: z.registry() }
  const unions: Record<string, JsonSchema> = {}
  const taken = new Set<string>()

  function take(direction: Direction, schema: z.ZodType, names: string[]): Reference {
    const known = registries[direction].get(schema)?.id
    if (known !== undefined) return refer(known)
    const title = schema.meta()?.title
    const wanted = title === undefined ? names : [title, ...names]
    const id = wanted.find((name) => !taken.has(name))
    if (id === undefined) throw new Error(`Two schemas are called ${wanted.join(' or ')}.`)
    taken.add(id)
    registries[direction].add(schema, { id })
    return refer(id)
  }

  return {
    input: (schema, ...names) => take('input', schema, names),
    output: (schema, ...names) => take('output', schema, names),
    anyOf(references, name) {
      const places = new Set(references.map(({ $ref }) => $ref))
      unions[name] = { anyOf: [...places].map(($ref) => ({ $ref })) }
      return refer(name)
    },
    toSchemas() {
      const schemas = { ...unions }
      for (const io of directions) Object.assign(schemas, convert(registries[io], io))
      return shareTitled(schemas, refer)
    },
  }
}

/** A schema as it stands in the document where it is not referred to. */
export function toOpenApiSchema(schema: z.ZodType, io: Direction): JsonSchema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    io,
    override: ({ jsonSchema }) => asExtensions(jsonSchema, io),
  })
  return rest
}

function refer(id: string): Reference {
  return { $ref: PLACE + id }
}

function convert(registry: Registry, io: Direction): Record<string, JsonSchema> {
  const { schemas } = z.toJSONSchema(registry, {
    io,
    uri: (id) => PLACE + id,
    override: ({ jsonSchema }) => asExtensions(jsonSchema, io),
  })
  return Object.fromEntries(
    Object.entries(schemas).map(([name, { $schema: _schema, $id: _id, ...rest }]) => [name, rest]),
  )
}

const extensions = { environmentReference: 'x-environment-reference', visibleWhen: 'x-visible-when' } as const

/** Says what only this house says of a schema in the form that OpenAPI keeps for such things. */
function asExtensions(schema: z.core.JSONSchema.BaseSchema, io: Direction): void {
  for (const [own, extension] of Object.entries(extensions)) {
    if (!(own in schema)) continue
    schema[extension] = schema[own]
    delete schema[own]
  }
  if (schema.writeOnly) {
    schema['x-sensitive'] = true
    // By OpenAPI’s reading, no answer has such a value.
    if (io === 'output') delete schema.writeOnly
  }
}
