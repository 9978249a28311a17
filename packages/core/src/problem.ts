/** The response to a failure: `application/problem+json` (RFC 9457, contract §2). */
import { type ErrorCode, errorCodes, type FieldError, type IntegrationError } from './errors.ts'
import { cutText } from './log.ts'
import type { Redactor } from './redact.ts'

type ProblemCode = Exclude<ErrorCode, 'aborted'>

/** The codes that a webhook answers with. Clients may throw `aborted`, too. */
export const codes = Object.keys(errorCodes).filter(
  (code): code is ProblemCode => code in errorCodes && code !== 'aborted',
)

/** The title of a problem: its code in words. */
export const titleOf = (code: ProblemCode) =>
  `${code.charAt(0).toUpperCase()}${code.slice(1).replaceAll('_', ' ').replace('json', 'JSON')}`

/** Faults that a response names; it counts the others. */
export const MAX_FAULTS = 50
/** Longest path, code or id. */
const MAX_NAME_LENGTH = 300

export function toProblem(error: IntegrationError, redactor?: Redactor) {
  // Redacted before it is cut: half a secret would not be recognised.
  const cut = (text: string, most?: number) => cutText(redactor?.text(text) ?? text, most)
  const { provider, errors } = error
  const code = error.code === 'aborted' ? 'internal_error' : error.code
  return {
    type: `urn:problem:${code}`,
    title: titleOf(code),
    // A client's error may have the provider's own status, which is in `provider`.
    status: error.status === provider?.status ? errorCodes[error.code].status : error.status,
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
  const more = errors.length - listed.length
  return more > 0 ? [...listed, { path: '', message: `and ${more} more` }] : listed
}

/** @throws {TypeError} with every fault and its path, if there is one */
export function refuseFaults(subject: string, faults: readonly FieldError[]): void {
  if (faults.length === 0) return
  const count = faults.length === 1 ? 'one fault' : `${faults.length} faults`
  const lines = faults.map(({ path, message }) => `${path} ${message}`)
  throw new TypeError([`${subject} has ${count}:`, ...lines].join('\n  '))
}
