import { eventSchemas } from '../contract/event.ts'
import type { IntegrationDefinition } from '../contract/integration.ts'
import { problemSchema } from '../problem-schema.ts'
import { createComponents } from './components.ts'
import type { OpenApiDocument, OpenApiInfo } from './document.ts'
import { describeWebhook } from './events.ts'
import {
  describeRoute,
  headers,
  parameters,
  problemResponses,
  type RouteDescription,
  securitySchemes,
} from './routes.ts'

/**
 * Makes the OpenAPI 3.1 document of a host from the schemas that validate requests.
 *
 * @param integrations the integrations of the host, each with a webhook of its own
 * @param info title, version and description of the host
 * @param routes the routes beside the webhooks
 * @throws {Error} if JSON Schema cannot represent a schema
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
  const functions = new Map()
  const webhooks = integrations.flatMap((definition) =>
    Object.entries(describeWebhook(definition, components, functions)),
  )
  const others = routes.map((route) => [route.path, { get: describeRoute(route, components) }])
  return {
    openapi: '3.1.0',
    info: { ...info, license: { name: 'MIT', identifier: 'MIT' } },
    servers: [{ url: '/', description: 'This host.' }],
    tags: [
      ...integrations.map(({ name, description }) => ({ name, description })),
      ...(routes.length === 0 ? [] : [{ name: 'host', description: 'Status and description of the host.' }]),
    ],
    paths: Object.fromEntries([...webhooks, ...others]),
    components: {
      schemas: components.toSchemas(),
      responses: problemResponses(),
      parameters,
      headers,
      securitySchemes,
    },
  }
}
