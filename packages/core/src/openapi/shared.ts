/** The parts that operations share: examples, headers, parameters, security and failures. */
import * as z from 'zod'
import { errorCodes } from '../errors.ts'
import { codes, titleOf } from '../problem.ts'
import { type OpenApiOperation, type OpenApiResponse, refer } from './document.ts'

/** The headers of responses. */
export const headers = {
  'retry-after': {
    description: 'The number of seconds to wait before sending the same request again.',
    schema: { type: 'integer', minimum: 0 },
  },
  'idempotency-replayed': {
    description:
      'Present if the host answered this delivery before. The response is the recorded one, without sensitive outputs, and nothing was done again.',
    schema: { const: 'true' },
  },
  'www-authenticate': { description: 'How an operator authenticates.', schema: { const: 'Bearer' } },
  allow: { description: 'The methods of the route.', schema: { type: 'string' } },
}

const header = { in: 'header', required: false } as const

/** The headers of a signed request (Standard Webhooks). */
export const parameters = {
  'webhook-id': {
    ...header,
    name: 'webhook-id',
    description:
      'The id of the delivery, the same for every redelivery. If absent, the `id` of the event. With neither, the host does not recognise a redelivery.',
    schema: { type: 'string', maxLength: 200 },
  },
  'webhook-timestamp': {
    ...header,
    name: 'webhook-timestamp',
    description: 'The time of the signature, in seconds since 1970. At most five minutes from now.',
    schema: { type: 'string', pattern: '^\\d+$' },
  },
  'webhook-signature': {
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

/** The responses of each operation to failures: the code tells them apart, and each code has its status. */
export const failures = { '4XX': refer('responses', 'Problem'), '5XX': refer('responses', 'Problem') }

/** The response to a failure. */
export function problemResponse() {
  return {
    description: 'A failure. Its `code` is for programs, its `detail` for people.',
    headers: Object.fromEntries(Object.keys(headers).map((name) => [name, refer('headers', name)])),
    content: { 'application/problem+json': { schema: refer('schemas', 'Problem') } },
    'x-problems': codes.map((code) => {
      const { status, retryable } = errorCodes[code]
      return { code, status, title: titleOf(code), retryable }
    }),
  } satisfies OpenApiResponse
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
