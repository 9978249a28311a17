import type * as z from 'zod'
import type { IntegrationDefinition } from '../contract/integration.ts'
import { toJsonSchema } from '../contract/marks.ts'
import {
  type Components,
  createComponents,
  type OpenApiOperation,
  type OpenApiParameter,
  toPascalCase,
} from './document.ts'
import { problemSchema } from './problem-schema.ts'
import { exampleOf, failures, headers, parameters, problemResponse, securitySchemes } from './shared.ts'
import { describeWebhook } from './webhook.ts'

/** The description of a route: `POST` if it has a body, else `GET`. */
export interface RouteDescription {
  /** As OpenAPI writes it: `/deployments/{id}`. */
  path: string
  operationId: string
  /** A few words. */
  summary: string
  description?: string
  /** The parameters in the path, by name, each with a description. */
  parameters?: z.ZodObject
  /** The parameters in the query, by name. */
  query?: z.ZodObject
  /** The body, with examples. */
  body?: z.ZodObject
  /** Whether a request needs the token of the operator, if the host has one. Without one, it has no `POST` route. */
  operator?: boolean
  /** The successful responses, by status; JSON by default. A response without a schema has no body. */
  responses: Readonly<Record<number, { description: string; mediaType?: string; schema?: z.ZodType }>>
}

/** An OpenAPI document, as plain data. */
export type OpenApiDocument = ReturnType<typeof toOpenApi>

/** The operation of a path: a webhook takes POST, as a route with a body does, any other GET. */
type Path = [path: string, item: { get?: OpenApiOperation; post?: OpenApiOperation }]

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
  info: { title: string; version: string; description?: string },
  routes: readonly RouteDescription[] = [],
) {
  const components = createComponents()
  components.add('Problem', toJsonSchema(problemSchema, 'output'))
  const webhooks = integrations.map((definition): Path => {
    return [`/${definition.name}/webhook`, { post: describeWebhook(definition, components) }]
  })
  const others = routes.map((route): Path => {
    return [route.path, { [route.body ? 'post' : 'get']: describeRoute(route, components) }]
  })
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
      responses: { Problem: problemResponse() },
      parameters,
      headers,
      securitySchemes,
    },
  }
}

/** Describes one route. */
function describeRoute(route: RouteDescription, components: Components): OpenApiOperation {
  const { operationId, summary, description, body, operator = false } = route
  const request = body && {
    schema: components.add(`${toPascalCase(operationId)}Request`, toJsonSchema(body, 'input')),
    examples: { body: { value: exampleOf(body) } },
  }
  const parameters = [...toParameters('path', route.parameters), ...toParameters('query', route.query)]
  const responses = Object.entries(route.responses).map(([status, response]) => {
    const { description, mediaType = 'application/json', schema } = response
    if (!schema) return [status, { description }]
    const name = `${toPascalCase(operationId)}Response${status === '200' ? '' : status}`
    const written = toJsonSchema(schema, 'output')
    const isJson = mediaType === 'application/json'
    const content = { [mediaType]: { schema: isJson ? components.add(name, written) : written } }
    return [status, { description, content }]
  })
  return {
    operationId,
    tags: ['host'],
    summary,
    ...(description !== undefined && { description }),
    security: operator ? [{ operatorToken: [] }, ...(body ? [] : [{}])] : [],
    ...(parameters.length > 0 && { parameters }),
    ...(request && { requestBody: { required: true, content: { 'application/json': request } } }),
    responses: { ...Object.fromEntries(responses), ...failures },
  }
}

function toParameters(where: 'path' | 'query', schema: z.ZodObject | undefined): OpenApiParameter[] {
  return Object.entries(schema?.shape ?? {}).map(([name, field]) => {
    const { description = '', ...rest } = toJsonSchema(field, 'input')
    const required = where === 'path' || !field.safeParse(undefined).success
    return { name, in: where, required, description: String(description), schema: rest }
  })
}
