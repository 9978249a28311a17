/**
 * What an integration is, for programs: everything that a platform needs to draw a form, as JSON Schema.
 *
 * @module
 */
import * as z from 'zod'
import { eventNames } from './event.ts'
import type { IntegrationDefinition } from './integration.ts'
import { secretNames } from './marks.ts'

const jsonSchema = z.record(z.string(), z.unknown()).describe('A JSON Schema (2020-12).')

/** A JSON Schema (2020-12). */
export type JsonSchema = z.infer<typeof jsonSchema>

/** The schema of a manifest. */
export const manifestSchema = z
  .object({
    name: z.string(),
    title: z.string(),
    description: z.string(),
    webhook: z.string().describe('The path of its webhook.'),
    events: z.array(z.enum(eventNames)).describe('The events that it acts on.'),
    inputs: jsonSchema,
    outputs: jsonSchema,
    sensitiveOutputs: z.array(z.string()).describe('The outputs to mask and to store with care.'),
    functions: z.record(
      z.string(),
      z.object({
        description: z.string(),
        aliases: z.array(z.string()).describe('Other names that it answers to.'),
        effect: z.boolean().describe('Whether it creates, changes, deletes or sends something.'),
        arguments: jsonSchema,
        result: jsonSchema,
      }),
    ),
    metrics: z.record(z.string(), z.object({ description: z.string(), unit: z.string().optional() })),
    downloads: z
      .array(z.string())
      .describe('The files that DOWNLOAD_STARTED can ask for; the first is the default.'),
  })
  .meta({ title: 'Manifest' })

/** An integration, as `GET /integrations` shows it. */
export type Manifest = z.infer<typeof manifestSchema>

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
