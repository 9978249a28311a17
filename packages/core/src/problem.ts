import * as z from 'zod'
import { type ErrorCode, errorCodes, type FieldError, type IntegrationError } from './errors.ts'
import type { Redactor } from './redact.ts'

/** The codes that a webhook answers with. */
export const codes = Object.keys(errorCodes).filter(
  (code): code is ErrorCode => code in errorCodes && code !== 'aborted',
)

/** The schema of the response to a failure: `application/problem+json` (RFC 9457, contract §2). */
export const problemSchema = z.object({
  type: z.string().describe('The kind of problem: `urn:problem:<code>`.'),
  title: z.string(),
  status: z.int(),
  detail: z.string().describe('What happened, and what to do about it.'),
  code: z.enum(codes),
  retryable: z.boolean().describe('Whether the same request may succeed later.'),
  errors: z
    .array(z.object({ path: z.string(), message: z.string() }))
    .optional()
    .describe('The invalid fields.'),
  provider: z
    .object({
      name: z.string(),
      status: z.int().optional(),
      code: z.string().optional(),
      message: z.string().optional(),
      traceId: z.string().optional().describe('The provider’s own id of its response, for its support.'),
    })
    .optional()
    .describe('The provider’s own error, if it refused the request.'),
})

/** The body of the response to a failure. */
export type Problem = z.infer<typeof problemSchema>

/** Faults that a response names; it counts the others. */
const MAX_ERRORS = 50

export function toProblem(error: IntegrationError, redactor?: Redactor): Problem {
  const problem: Problem = {
    type: `urn:problem:${error.code}`,
    title: errorCodes[error.code].title,
    status: error.status,
    detail: error.hint ? `${error.message} ${error.hint}` : error.message,
    code: error.code,
    retryable: error.retryable,
    errors: error.errors && listErrors(error.errors),
    provider: error.provider,
  }
  return redactor ? redactor.data(problem) : problem
}

function listErrors(errors: readonly FieldError[]): Problem['errors'] {
  const listed = errors.slice(0, MAX_ERRORS).map(({ path, message }) => ({ path, message }))
  const more = errors.length - listed.length
  return more > 0 ? [...listed, { path: '', message: `and ${more} more` }] : listed
}
