import type * as z from 'zod'
import { toJsonSchema } from '../contract/json-schema.ts'
import type { ErrorCode } from '../errors.ts'
import { type Components, toPascalCase } from './components.ts'
import type { OpenApiOperation, OpenApiParameter } from './document.ts'
import { exampleOf } from './examples.ts'
import { referToProblems } from './shared.ts'

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
  /** The error codes of the failures. */
  problems?: readonly ErrorCode[]
}

/** Describes one route. */
export function describeRoute(route: RouteDescription, components: Components): OpenApiOperation {
  const { operationId, summary, description, body, operator = false, problems = [] } = route
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
    responses: { ...Object.fromEntries(responses), ...referToProblems(problems) },
  }
}

function toParameters(where: 'path' | 'query', schema: z.ZodObject | undefined): OpenApiParameter[] {
  return Object.entries(schema?.shape ?? {}).map(([name, field]) => {
    const { description = '', ...rest } = toJsonSchema(field, 'input')
    const required = where === 'path' || !field.safeParse(undefined).success
    return { name, in: where, required, description: String(description), schema: rest }
  })
}
