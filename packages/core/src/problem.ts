import * as z from 'zod'
import type { ErrorCode, FieldError, IntegrationError } from './errors.ts'
import { cutText } from './log.ts'
import type { Redactor } from './redact.ts'

/** The title of each code that a webhook answers with. Clients, which have no titles, may throw `aborted`, too. */
export const titles: Readonly<Record<Exclude<ErrorCode, 'aborted'>, string>> = {
  invalid_json: 'The body is not valid JSON',
  invalid_event: 'The event is invalid',
  invalid_signature: 'The signature is invalid',
  not_found: 'Not found',
  unknown_function: 'The function is unknown',
  method_not_allowed: 'Method not allowed',
  delivery_in_progress: 'The delivery is in progress',
  outcome_unknown: 'The outcome is unknown',
  body_too_large: 'The body is too large',
  unsupported_media_type: 'The media type is not supported',
  invalid_inputs: 'The deployment inputs are invalid',
  invalid_arguments: 'The arguments are invalid',
  missing_credentials: 'Credentials are missing',
  credentials_rejected: 'The provider rejected the credentials',
  provider_rejected: 'The provider rejected the request',
  deployment_deleted: 'The deployment was deleted',
  provider_rate_limited: 'The provider’s rate limit is exceeded',
  internal_error: 'Internal error',
  provider_error: 'The provider failed',
  platform_unavailable: 'The platform is unavailable',
  shutting_down: 'The host is shutting down',
  overloaded: 'The host is overloaded',
  provider_timeout: 'The provider did not answer in time',
}

/** The codes that a webhook answers with. */
export const codes = Object.keys(titles).filter((code): code is keyof typeof titles => code in titles)

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
  const code = error.code === 'aborted' ? 'internal_error' : error.code
  return {
    type: `urn:problem:${code}`,
    title: titles[code],
    status: error.status,
    detail: cut(error.hint ? `${error.message} ${error.hint}` : error.message),
    code,
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
