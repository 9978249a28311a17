/** The parts that operations share: examples, headers, parameters, security and failures. */
import * as z from 'zod'
import type { IntegrationDefinition } from '../contract/integration.ts'
import { type ErrorCode, errorCodes } from '../errors.ts'
import { codes, titleOf } from '../problem.ts'
import { type OpenApiOperation, type OpenApiResponse, type Reference, refer } from './document.ts'

/** The headers of responses. */
export const headers = {
  RetryAfter: {
    description: 'The number of seconds to wait before sending the same request again.',
    schema: { type: 'integer', minimum: 0 },
  },
  IdempotencyReplayed: {
    description:
      'Present if the host answered this delivery before. The response is the recorded one, without sensitive outputs, and nothing was done again.',
    schema: { const: 'true' },
  },
  WwwAuthenticate: { description: 'How an operator authenticates.', schema: { const: 'Bearer' } },
  Allow: { description: 'The methods of the route.', schema: { type: 'string' } },
}

const header = { in: 'header', required: false } as const

/** The headers of a signed request (Standard Webhooks). */
export const parameters = {
  WebhookId: {
    ...header,
    name: 'webhook-id',
    description:
      'The id of the delivery, the same for every redelivery. If absent, the `id` of the event. With neither, the host does not recognise a redelivery.',
    schema: { type: 'string', maxLength: 200 },
  },
  WebhookTimestamp: {
    ...header,
    name: 'webhook-timestamp',
    description: 'The time of the signature, in seconds since 1970. At most five minutes from now.',
    schema: { type: 'string', pattern: '^\\d+$' },
  },
  WebhookSignature: {
    ...header,
    name: 'webhook-signature',
    description: 'One or more signatures, separated by spaces. See the security scheme.',
    schema: { type: 'string' },
  },
}

/** How a caller proves who it is. */
export const securitySchemes = {
  standardWebhooks: {
    type: 'apiKey',
    in: 'header',
    name: 'webhook-signature',
    description:
      'Standard Webhooks 1.0 (https://www.standardwebhooks.com): `v1,` and the base64 of the HMAC-SHA-256 of `<webhook-id>.<webhook-timestamp>.<body>` under the shared secret (`whsec_…`). The body is signed byte by byte. Required if the host has a secret.',
  },
  operatorToken: {
    type: 'http',
    scheme: 'bearer',
    description: 'The token of the host’s operator (`OPERATOR_TOKEN`). Required if the host has one.',
  },
}

/** Part of an operation whose requests are signed if the host has a secret. */
export const signature: Pick<OpenApiOperation, 'security' | 'parameters'> = {
  security: [{ standardWebhooks: [] }, {}],
  parameters: Object.keys(parameters).map((name) => refer('parameters', name)),
}

/** Codes with a second status. `invalid_event` is 422 if the delivery id was used with another body. */
const secondStatus: Partial<Record<ErrorCode, number>> = { invalid_event: 422 }
/** Failures that are recorded and replayed to a redelivery. */
const REPLAYED: readonly number[] = [409, 422]
/** Failures that need no call to a provider or to the platform. */
const ALWAYS_POSSIBLE: readonly number[] = [400, 401, 405, 413, 415, 500, 503]

/** The responses to failures, one for each status: `Problem404`. */
export function problemResponses(): Record<string, OpenApiResponse> {
  const statuses = new Set(codes.map((code) => errorCodes[code].status))
  return Object.fromEntries([...statuses].map((status) => [`Problem${status}`, toProblemResponse(status)]))
}

/** The failures of an integration's webhook, by status. */
export function problemsOf({ events }: IntegrationDefinition): Record<string, Reference> {
  const callsOut = events.some((event) => event !== 'HEALTH_CHECK')
  const possible = codes.filter((code) => {
    const { status } = errorCodes[code]
    return status === 404 ? events.includes('FUNCTION_CALL') : callsOut || ALWAYS_POSSIBLE.includes(status)
  })
  return referToProblems(possible)
}

/** The responses of error codes, by status. */
export function referToProblems(problems: readonly ErrorCode[]): Record<string, Reference> {
  const statuses = problems.map((code) => errorCodes[code].status)
  return Object.fromEntries(statuses.map((status) => [status, refer('responses', `Problem${status}`)]))
}

function toProblemResponse(status: number): OpenApiResponse {
  const own = codes.filter((code) => errorCodes[code].status === status || secondStatus[code] === status)
  const sent = {
    ...(own.some((code) => errorCodes[code].retryable) && { 'Retry-After': refer('headers', 'RetryAfter') }),
    ...(REPLAYED.includes(status) && { 'idempotency-replayed': refer('headers', 'IdempotencyReplayed') }),
    ...(status === 401 && { 'WWW-Authenticate': refer('headers', 'WwwAuthenticate') }),
    ...(status === 405 && { Allow: refer('headers', 'Allow') }),
  }
  const details = { type: 'object', properties: { status: { const: status }, code: { enum: own } } }
  return {
    description: own.map((code) => `\`${code}\`: ${titleOf(code)}.`).join(' '),
    ...(Object.keys(sent).length > 0 && { headers: sent }),
    content: { 'application/problem+json': { schema: { allOf: [refer('schemas', 'Problem'), details] } } },
    'x-problems': own.map((code) => ({ code, title: titleOf(code), retryable: errorCodes[code].retryable })),
  }
}

const withExamples = z.object({ examples: z.array(z.record(z.string(), z.unknown())).default([]) })

/** The first of {@link examplesOf} a schema. */
export const exampleOf = (schema: z.ZodObject): Record<string, unknown> => examplesOf(schema)[0] ?? {}

/** The schema’s own examples, else its required fields with the examples of each. */
export function examplesOf(schema: z.ZodObject): Record<string, unknown>[] {
  const { examples } = withExamples.parse(schema.meta() ?? {})
  if (examples.length > 0) return examples
  const { required = [], properties = {} } = z.toJSONSchema(schema, { io: 'input' })
  const fields = required.map((name) => {
    const field: z.core.JSONSchema.BaseSchema = Object(properties[name])
    return [name, field.examples?.[0] ?? field.enum?.[0] ?? 'text']
  })
  return [Object.fromEntries(fields)]
}
