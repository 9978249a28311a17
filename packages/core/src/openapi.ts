/**
 * The host's contract as an OpenAPI 3.1 document, from the same schemas that validate.
 *
 * @module
 */
import * as z from 'zod'
import { errorCodes } from './errors.ts'
import { eventSchemas } from './event.ts'
import type { IntegrationDefinition } from './integration.ts'
import { type JsonSchema, toJsonSchema } from './manifest.ts'
import { problemSchema } from './problem.ts'

/** An OpenAPI document, as plain data. */
export interface OpenApiDocument {
  openapi: '3.1.0'
  info: { title: string; version: string; description?: string }
  /** The operations of each path, by method. */
  paths: Record<string, Record<string, unknown>>
  components: Record<string, unknown>
}

const ignoredAnswer = z.object({ status: z.literal('ignored'), reason: z.string() })

const answers = {
  WEBHOOK_CHALLENGE: z.union([z.object({ challenge: z.string() }), z.object({ status: z.literal('ok') })]),
  HEALTH_CHECK: z.object({
    status: z.enum(['healthy', 'unhealthy']),
    checks: z.array(
      z.object({
        name: z.string(),
        healthy: z.boolean(),
        latencyMs: z.number(),
        message: z.string().optional(),
      }),
    ),
  }),
  METRIC_UPDATE: z.object({
    metrics: z.array(z.object({ name: z.string(), value: z.number(), unit: z.string().optional() })),
  }),
  DEPLOYMENT_DELETED: z.object({ status: z.literal('stopped') }),
  DOWNLOAD_STARTED: z.object({
    files: z.array(z.object({ path: z.string(), contentType: z.string(), content: z.string() })),
  }),
}

/**
 * The OpenAPI document of a host.
 *
 * @param integrations those that the host has a route for
 * @param info title and version of the host
 */
export function toOpenApi(
  integrations: readonly IntegrationDefinition[],
  info: { title: string; version: string; description?: string },
): OpenApiDocument {
  return {
    openapi: '3.1.0',
    info,
    paths: Object.fromEntries(
      integrations.map((definition) => [`/${definition.name}/webhook`, { post: toOperation(definition) }]),
    ),
    components: {
      schemas: { Problem: toJsonSchema(problemSchema, 'output') },
      responses: Object.fromEntries(
        problemsByStatus().map(([status, codes]) => [`Problem${status}`, toResponse(codes)]),
      ),
    },
  }
}

function toOperation(definition: IntegrationDefinition): Record<string, unknown> {
  return {
    operationId: `${definition.name}Webhook`,
    tags: [definition.name],
    summary: definition.title,
    description: definition.description,
    parameters: ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => ({
      name,
      in: 'header',
      required: false,
      description: 'Standard Webhooks 1.0; required where the host holds a webhook secret.',
      schema: { type: 'string' },
    })),
    requestBody: {
      required: true,
      content: { 'application/json': { schema: { oneOf: toEventSchemas(definition) } } },
    },
    responses: {
      200: {
        description: 'What came of the event; the shape follows from its name.',
        content: { 'application/json': { schema: { anyOf: toAnswerSchemas(definition) } } },
      },
      ...Object.fromEntries(
        problemsByStatus().map(([status]) => [status, { $ref: `#/components/responses/Problem${status}` }]),
      ),
    },
  }
}

function toEventSchemas(definition: IntegrationDefinition): JsonSchema[] {
  return Object.entries(eventSchemas).flatMap(([name, schema]) => {
    const event = { title: name, ...toJsonSchema(schema, 'input') }
    if (name !== 'FUNCTION_CALL') return [event]
    return Object.entries(definition.functions).map(
      ([functionName, { aliases = [], description, ...schemas }]) => ({
        title: `FUNCTION_CALL ${functionName}`,
        description,
        allOf: [
          event,
          {
            type: 'object',
            properties: {
              functionCall: {
                type: 'object',
                properties: {
                  name: { enum: [functionName, ...aliases] },
                  arguments: toJsonSchema(schemas.arguments, 'input'),
                },
              },
            },
          },
        ],
      }),
    )
  })
}

function toAnswerSchemas(definition: IntegrationDefinition): JsonSchema[] {
  const handled = Object.entries(answers).filter(
    ([name]) => name === 'WEBHOOK_CHALLENGE' || definition.events.some((event) => event === name),
  )
  const created = z.object({ status: z.literal('running'), outputs: definition.outputs })
  return [
    ...handled.map(([name, schema]) => ({ title: name, ...toJsonSchema(schema, 'output') })),
    ...(definition.events.includes('DEPLOYMENT_CREATED')
      ? [{ title: 'DEPLOYMENT_CREATED', ...toJsonSchema(created, 'output') }]
      : []),
    ...Object.entries(definition.functions).map(([name, { result }]) => ({
      title: `FUNCTION_CALL ${name}`,
      ...toJsonSchema(z.object({ result }), 'output'),
    })),
    { title: 'ignored', ...toJsonSchema(ignoredAnswer, 'output') },
  ]
}

function problemsByStatus(): [status: number, codes: string[]][] {
  const byStatus = new Map<number, string[]>()
  for (const [code, { status }] of Object.entries(errorCodes)) {
    byStatus.set(status, [...(byStatus.get(status) ?? []), code])
  }
  return [...byStatus]
}

function toResponse(codes: string[]): Record<string, unknown> {
  return {
    description: codes.map((code) => `\`${code}\``).join(', '),
    content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
  }
}
