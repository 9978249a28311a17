/**
 * Routes beside the webhooks, as the OpenAPI document says them.
 *
 * @module
 */
import type * as z from 'zod'
import { type ErrorCode, errorCodes } from '../errors.ts'
import { type Components, type Reference, toOpenApiSchema } from './components.ts'
import type { OpenApiOperation, OpenApiParameter, OpenApiResponse } from './document.ts'
import { toPascalCase } from './functions.ts'
import { problem } from './problems.ts'
import { ifSigned, signatureParameters } from './signature.ts'

/** A route that is read (`GET`), described where it is made. */
export interface RouteDescription {
  /** As OpenAPI writes it: `/deployments/{id}`. */
  path: string
  operationId: string
  /** A few words. */
  summary: string
  description?: string
  /** The parameters in the path, by name, each with a description. */
  parameters?: z.ZodObject
  /** Those behind the question mark. */
  query?: z.ZodObject
  /**
   * Whether it must be signed as a webhook is, where the host holds a secret.
   * @default false
   */
  signed?: boolean
  /** The answers that are no problems, by status. */
  answers: Readonly<Record<number, AnswerDescription>>
  /** The codes of the failures that it may answer with. */
  problems?: readonly ErrorCode[]
}

/** One answer of a route. */
export interface AnswerDescription {
  description: string
  /** @default 'application/json' */
  mediaType?: string
  /** What it is, or what is in it, with a title is written once, under that name. */
  schema: z.ZodType
}

/** The operation of a route. */
export function describeRoute(route: RouteDescription, components: Components): OpenApiOperation {
  const { operationId, summary, description, signed = false, answers, problems = [] } = route
  const parameters = [
    ...toParameters('path', route.parameters),
    ...toParameters('query', route.query),
    ...(signed ? signatureParameters : []),
  ]
  const responses = [
    ...Object.entries(answers).map(([status, answer]) => {
      const name = `${toPascalCase(operationId)}Answer${status === '200' ? '' : status}`
      return [status, toResponse(answer, name, components)] as const
    }),
    ...problems.map((code) => [String(errorCodes[code].status), problem(errorCodes[code].status)] as const),
  ]
  return {
    operationId,
    tags: ['host'],
    summary,
    ...(description === undefined ? {} : { description }),
    security: signed ? ifSigned : [],
    ...(parameters.length === 0 ? {} : { parameters }),
    responses: Object.fromEntries(responses),
  }
}

function toParameters(where: 'path' | 'query', schema: z.ZodObject | undefined): OpenApiParameter[] {
  return Object.entries(schema?.shape ?? {}).map(([name, field]) => {
    const { description = '', ...rest } = toOpenApiSchema(field, 'input')
    const required = where === 'path' || !field.safeParse(undefined).success
    return { name, in: where, required, description: String(description), schema: rest }
  })
}

function toResponse(
  { description, mediaType = 'application/json', schema }: AnswerDescription,
  name: string,
  components: Components,
): OpenApiResponse {
  const written: Reference | ReturnType<typeof toOpenApiSchema> =
    mediaType === 'application/json' ? components.output(schema, name) : toOpenApiSchema(schema, 'output')
  return { description, content: { [mediaType]: { schema: written } } }
}
