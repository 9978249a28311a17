/**
 * The failures of a webhook, as the OpenAPI document says them: by status, each with its codes and headers.
 *
 * @module
 */

import type { IntegrationDefinition } from '../contract/integration.ts'
import { type ErrorCode, errorCodes } from '../errors.ts'
import type { Reference } from './components.ts'
import type { OpenApiResponse } from './document.ts'

/** The headers that answers may have. */
export const headerComponents = {
  RetryAfter: {
    description: 'Seconds to wait before the same request is sent again.',
    schema: { type: 'integer', minimum: 0 },
  },
  IdempotencyReplayed: {
    description:
      'Present where this delivery was answered before, and this is the recorded answer: nothing was done again, and sensitive outputs are left out.',
    schema: { const: 'true' },
  },
  Allow: { description: 'The methods that the route has.', schema: { type: 'string' } },
} as const

/** Where a component of this document is. */
export function header(name: keyof typeof headerComponents): Reference {
  return { $ref: `#/components/headers/${name}` }
}

/** Where the failures with a status are. */
export function problem(status: number): Reference {
  return { $ref: `#/components/responses/Problem${status}` }
}

/** Codes that have a second status, beside their own. */
const secondStatus: Partial<Record<ErrorCode, number>> = {
  // A delivery’s id that was used before, with another body.
  invalid_event: 422,
}

/** The answers that are recorded, and given again to the same delivery. */
const recordedStatuses: readonly number[] = [409, 422]

const codes = Object.keys(errorCodes).filter((code): code is ErrorCode => code in errorCodes)

/** The codes that are answered with a status. */
function codesOf(status: number): ErrorCode[] {
  return codes.filter((code) => errorCodes[code].status === status || secondStatus[code] === status)
}

/** The failures that every document knows, by the names of their components. */
export function problemComponents(): Record<string, OpenApiResponse> {
  const statuses = [...new Set(codes.map((code) => errorCodes[code].status))]
  return Object.fromEntries(statuses.map((status) => [`Problem${status}`, toResponse(status)]))
}

/** The failures that a webhook may answer with, by status. */
export function problemsOf({ events }: IntegrationDefinition): Record<string, Reference> {
  const acts = events.some((event) => event !== 'HEALTH_CHECK')
  const mayAnswer = (code: ErrorCode) => {
    if (code === 'not_found') return false
    if (code === 'unknown_function') return events.includes('FUNCTION_CALL')
    return acts || alwaysPossible.includes(code)
  }
  const statuses = new Set(codes.filter(mayAnswer).map((code) => errorCodes[code].status))
  return Object.fromEntries([...statuses].map((status) => [status, problem(status)]))
}

/** What a route may answer that makes no call. */
const alwaysPossible: readonly ErrorCode[] = [
  'invalid_json',
  'invalid_event',
  'invalid_signature',
  'method_not_allowed',
  'body_too_large',
  'unsupported_media_type',
  'internal_error',
  'shutting_down',
  'overloaded',
]

function toResponse(status: number): OpenApiResponse {
  const own = codesOf(status)
  const headers = {
    ...(own.some((code) => errorCodes[code].retryable) ? { 'Retry-After': header('RetryAfter') } : {}),
    ...(recordedStatuses.includes(status) ? { 'idempotency-replayed': header('IdempotencyReplayed') } : {}),
    ...(status === 405 ? { Allow: header('Allow') } : {}),
  }
  return {
    description: own.map((code) => `\`${code}\`: ${errorCodes[code].title}.`).join(' '),
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
    content: {
      'application/problem+json': {
        schema: {
          allOf: [
            { $ref: '#/components/schemas/Problem' },
            { type: 'object', properties: { status: { const: status }, code: { enum: own } } },
          ],
        },
      },
    },
    'x-problems': own.map((code) => {
      const { title, retryable } = errorCodes[code]
      return { code, title, retryable }
    }),
  }
}
