/**
 * What an integration is, for programs: everything that a platform needs to draw a form, as JSON Schema.
 *
 * @module
 */
import * as z from 'zod'
import { type IntegrationDefinition, secretNames } from './integration.ts'

/** A JSON Schema (2020-12). */
export type JsonSchema = Record<string, unknown>

/** An integration, as `GET /integrations` shows it. */
export interface Manifest {
  name: string
  title: string
  description: string
  webhook: string
  events: string[]
  inputs: JsonSchema
  outputs: JsonSchema
  /** The outputs to mask and to store with care. */
  sensitiveOutputs: string[]
  functions: Record<
    string,
    { description: string; aliases: string[]; effect: boolean; arguments: JsonSchema; result: JsonSchema }
  >
  metrics: Record<string, { description: string; unit?: string }>
  downloads: string[]
}

/** A schema as JSON Schema: as a caller writes it (`input`), or as an answer shows it (`output`). */
export function toJsonSchema(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io })
  return rest
}

/**
 * The manifest of an integration.
 *
 * @throws {Error} where a schema can't be said in JSON Schema
 */
export function toManifest(definition: IntegrationDefinition): Manifest {
  return {
    name: definition.name,
    title: definition.title,
    description: definition.description,
    webhook: `/${definition.name}/webhook`,
    events: ['WEBHOOK_CHALLENGE', ...definition.events],
    inputs: toJsonSchema(definition.inputs, 'input'),
    outputs: toJsonSchema(definition.outputs, 'output'),
    sensitiveOutputs: secretNames(definition.outputs),
    functions: Object.fromEntries(
      Object.entries(definition.functions).map(
        ([name, { description, aliases = [], effect, ...schemas }]) => [
          name,
          {
            description,
            aliases: [...aliases],
            effect,
            arguments: toJsonSchema(schemas.arguments, 'input'),
            result: toJsonSchema(schemas.result, 'output'),
          },
        ],
      ),
    ),
    metrics: { ...definition.metrics },
    downloads: [...definition.downloads],
  }
}
