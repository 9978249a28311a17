import * as z from 'zod'
import { type ErrorCode, errorCodes, type FieldError, type IntegrationError } from './errors.ts'
import { cutText } from './log.ts'
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
export const MAX_FAULTS = 50
/** Longest path, code or id. */
const MAX_NAME_LENGTH = 300

export function toProblem(error: IntegrationError, redactor?: Redactor): Problem {
  // Redacted before it is cut: half a secret would not be recognised.
  const cut = (text: string, most?: number) => cutText(redactor?.text(text) ?? text, most)
  const { provider, errors } = error
  return {
    type: `urn:problem:${error.code}`,
    title: errorCodes[error.code].title,
    status: error.status,
    detail: cut(error.hint ? `${error.message} ${error.hint}` : error.message),
    code: error.code,
    retryable: error.retryable,
    errors:
      errors &&
      listErrors(errors).map(({ path, message }) => ({
        path: cut(path, MAX_NAME_LENGTH),
        message: cut(message),
      })),
    provider: provider && {
      ...provider,
      name: cut(provider.name),
      code: provider.code && cut(provider.code, MAX_NAME_LENGTH),
      message: provider.message && cut(provider.message),
      traceId: provider.traceId && cut(provider.traceId, MAX_NAME_LENGTH),
    },
  }
}

function listErrors(errors: readonly FieldError[]): readonly FieldError[] {
  const listed = errors.slice(0, MAX_FAULTS)
  const more = countFaults(errors) - countFaults(listed)
  return more > 0 ? [...listed, { path: '', message: `and ${more} more` }] : listed
}

/** The number of faults in a list of which the last entry may stand for many. */
export function countFaults(errors: readonly FieldError[]): number {
  return errors.reduce((sum, { count = 1 }) => sum + count, 0)
}
