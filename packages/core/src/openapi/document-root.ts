/**
 * The host's contract as an OpenAPI 3.1 document, from the same schemas that validate.
 *
 * @module
 */
import { eventSchemas } from '../contract/event.ts'
import type { IntegrationDefinition } from '../contract/integration.ts'
import { problemSchema } from '../problem.ts'
import { createComponents } from './components.ts'
import type { OpenApiDocument, OpenApiInfo, OpenApiOperation } from './document.ts'
import { type DescribedWebhook, describeWebhook } from './events.ts'
import { createFunctionDescriber, toPascalCase } from './functions.ts'
import { header, headerComponents, problemComponents, problemsOf } from './problems.ts'
import { describeRoute, type RouteDescription } from './routes.ts'
import { ifSigned, parameterComponents, securitySchemes, signatureParameters } from './signature.ts'

/**
 * The OpenAPI document of a host.
 *
 * @param integrations those that the host has a route for
 * @param info what the host is
 * @param routes those beside the webhooks
 * @throws {Error} where a schema can't be said in JSON Schema
 */
export function toOpenApi(
  integrations: readonly IntegrationDefinition[],
  info: OpenApiInfo,
  routes: readonly RouteDescription[] = [],
): OpenApiDocument {
  const components = createComponents()
  components.output(problemSchema, 'Problem')
  components.input(eventSchemas.DEPLOYMENT_CREATED.shape.deployment, 'Deployment')
  components.input(eventSchemas.FUNCTION_CALL.shape.functionCall, 'FunctionCall')
  components.input(eventSchemas.DOWNLOAD_STARTED.shape.download.unwrap(), 'Download')
  const describeFunction = createFunctionDescriber(components)
  const webhooks = integrations.map((definition) => {
    const functions = Object.entries(definition.functions).map(([name, each]) =>
      describeFunction(name, each, toPascalCase(definition.name)),
    )
    const webhook = describeWebhook(definition, functions, components)
    return [`/${definition.name}/webhook`, { post: toOperation(definition, webhook) }] as const
  })
  const others = routes.map((route) => [route.path, { get: describeRoute(route, components) }] as const)
  return {
    openapi: '3.1.0',
    info: { ...info, license: { name: 'MIT', identifier: 'MIT' } },
    servers: [{ url: '/', description: 'This host.' }],
    tags: [
      ...integrations.map(({ name, description }) => ({ name, description })),
      ...(routes.length === 0 ? [] : [{ name: 'host', description: 'What the host says of itself.' }]),
    ],
    paths: Object.fromEntries([...webhooks, ...others]),
    components: {
      schemas: components.toSchemas(),
      responses: problemComponents(),
      parameters: parameterComponents,
      headers: headerComponents,
      securitySchemes,
    },
  }
}

function toOperation(
  definition: IntegrationDefinition,
  { request, answer, events, examples }: DescribedWebhook,
): OpenApiOperation {
  return {
    operationId: `post${toPascalCase(definition.name)}Event`,
    tags: [definition.name],
    summary: definition.title,
    description: definition.description,
    security: ifSigned,
    parameters: signatureParameters,
    requestBody: {
      required: true,
      content: { 'application/json': { schema: request, examples } },
    },
    responses: {
      200: {
        description: 'What came of the event; the shape follows from its name.',
        headers: { 'idempotency-replayed': header('IdempotencyReplayed') },
        content: { 'application/json': { schema: answer } },
      },
      ...problemsOf(definition),
    },
    'x-events': events,
    ...(Object.keys(definition.metrics).length === 0 ? {} : { 'x-metrics': { ...definition.metrics } }),
  }
}
