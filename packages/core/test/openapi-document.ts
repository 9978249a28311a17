/**
 * What the tests of the OpenAPI document share: an integration with almost nothing, and a way to its schemas.
 */
import * as z from 'zod'
import { defineIntegration, type JsonSchema, type OpenApiDocument } from '../src/index.ts'

export const bare = defineIntegration({
  name: 'elsewhere',
  title: 'Elsewhere',
  description: 'Is managed elsewhere.',
  events: ['HEALTH_CHECK'],
  inputs: z.object({}),
  outputs: z.object({}),
  functions: {},
  metrics: {},
  downloads: [],
})
export const info = { title: 'Host', version: '1.0.0' }
/** The schema of a name. */
export function schemaOf(document: OpenApiDocument, name: string): JsonSchema {
  const schema = document.components.schemas[name]
  if (!schema) throw new Error(`There is no ${name} among ${Object.keys(document.components.schemas)}.`)
  return schema
}
