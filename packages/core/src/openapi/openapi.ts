import type { IntegrationDefinition } from '../contract/integration.ts'
import { toJsonSchema } from '../contract/json-schema.ts'
import { problemSchema } from '../problem-schema.ts'
import { createComponents } from './components.ts'
import type { OpenApiDocument, OpenApiInfo } from './document.ts'
import { describeRoute, type RouteDescription } from './routes.ts'
import { headers, parameters, problemResponses, securitySchemes } from './shared.ts'
import { describeWebhook } from './webhook.ts'

/**
 * Makes the OpenAPI 3.1 document of a host from the schemas that validate requests.
 *
 * @param integrations the integrations of the host, each with a webhook of its own
 * @param info title, version and description of the host
 * @param routes the routes beside the webhooks
 * @throws {Error} if JSON Schema cannot represent a schema, or two schemas have one name
 */
export function toOpenApi(
  integrations: readonly IntegrationDefinition[],
  info: OpenApiInfo,
  routes: readonly RouteDescription[] = [],
): OpenApiDocument {
  const components = createComponents()
  components.add('Problem', toJsonSchema(problemSchema, 'output'))
  const webhooks = integrations.map((definition) => {
    return [`/${definition.name}/webhook`, { post: describeWebhook(definition, components) }] as const
  })
  const others = routes.map(
    (route) => [route.path, { [route.body ? 'post' : 'get']: describeRoute(route, components) }] as const,
  )
  const schemas = [...components.schemas].toSorted(([one], [other]) => (one < other ? -1 : 1))
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
      schemas: Object.fromEntries(schemas),
      responses: problemResponses(),
      parameters,
      headers,
      securitySchemes,
    },
  }
}
