import * as z from 'zod'
import { eventNames } from '../contract/event.ts'
import { toFormSchema } from '../contract/form.ts'
import type { IntegrationDefinition } from '../contract/integration.ts'
import { jsonSchema, secretPaths, toJsonSchema } from '../contract/marks.ts'

/** The schema of a manifest, from which a platform can draw the form for a deployment. */
export const manifestSchema = z
  .object({
    name: z.string(),
    title: z.string(),
    description: z.string(),
    webhook: z.string().describe('The path of the webhook.'),
    events: z.array(z.enum(eventNames)).describe('The events that the integration handles.'),
    inputs: jsonSchema,
    outputs: jsonSchema,
    sensitiveOutputs: z
      .array(z.string())
      .describe(
        'The outputs to mask and to store encrypted, as paths: `apiToken`, `connection.uri`, `users.*.password`.',
      ),
    functions: z.record(
      z.string(),
      z.object({
        description: z.string(),
        aliases: z.array(z.string()).describe('Other names of the function.'),
        effectful: z.boolean().describe('Whether the function creates, changes, deletes or sends something.'),
        arguments: jsonSchema,
        result: jsonSchema,
      }),
    ),
    metrics: z.record(z.string(), z.object({ description: z.string(), unit: z.string().optional() })),
    downloads: z
      .array(z.string())
      .describe('The files that DOWNLOAD_STARTED can request. The first is the default.'),
  })
  .meta({ title: 'Manifest' })

/** An integration, as `GET /integrations` shows it. */
export type Manifest = z.infer<typeof manifestSchema>

/**
 * Makes the manifest of an integration.
 *
 * @throws {Error} if JSON Schema cannot represent a schema
 */
export function toManifest(definition: IntegrationDefinition): Manifest {
  const { name, title, description, inputs, outputs, metrics } = definition
  const functions = Object.entries(definition.functions).map(([name, called]) => {
    const { description, aliases = [], effectful, arguments: input, result } = called
    const schemas = { arguments: toJsonSchema(input, 'input'), result: toJsonSchema(result, 'output') }
    return [name, { description, aliases: [...aliases], effectful, ...schemas }]
  })
  return {
    name,
    title,
    description,
    webhook: `/${name}/webhook`,
    events: ['WEBHOOK_CHALLENGE', ...definition.events],
    inputs: toFormSchema(inputs),
    outputs: toJsonSchema(outputs, 'output'),
    sensitiveOutputs: [...secretPaths(outputs)],
    functions: Object.fromEntries(functions),
    metrics: { ...metrics },
    downloads: [...definition.downloads],
  }
}
