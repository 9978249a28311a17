/**
 * Turns failures of the provider into `IntegrationError`s: what happened, whether a change may have been made,
 * and what a person can do.
 *
 * @see https://clerk.com/docs/guides/development/errors/backend-api
 */
import { IntegrationError, isIntegrationError } from '@org/core/errors'
import { type Provider, unknownOutcome } from '@org/core/http'
import { wireErrors, wireInstance } from './wire.ts'

/** The code of a refusal of every call about organizations. */
export const ORGANIZATIONS_DISABLED = 'organization_not_enabled_in_instance'

/** Advice for the provider's most frequent codes. */
const hints: Record<string, string> = {
  resource_not_found: 'Check the id.',
  form_password_pwned: 'Choose another password, or pass skipPasswordChecks.',
  [ORGANIZATIONS_DISABLED]: 'Enable organizations in the application’s settings at the provider.',
}

/** Advice for a value that another user or organization has already. */
const takenHint = (argument: string | undefined) =>
  argument === 'slug'
    ? 'Choose another slug, or leave it out: the provider derives one from the name.'
    : 'Choose another value, or find the user who has it with listUsers, and update that one instead.'

/** The provider, as errors name it. */
export const provider: Provider = {
  name: 'idp',
  title: 'The identity provider',
  credentials: {
    title: 'secret key',
    missingHint: 'Pass it as secretKey.',
    rejectedHint: 'Check the secret key. It may have been revoked.',
  },
  probe: { path: '/instance', isAnswer: (body) => wireInstance.safeParse(body).success },
  isOwnForm: (body) => wireErrors.safeParse(body).success,
  readFailure({ body }) {
    const words = wireErrors.safeParse(body).data
    const isTaken = words?.code === 'form_identifier_exists'
    return { ...words, hint: isTaken ? takenHint(words.errors?.[0]?.path) : hints[words?.code ?? ''] }
  },
}

/**
 * Makes the error for an update that changed the fields, and then failed to change the metadata. A retryable
 * error stays retryable: setting the same fields again does no harm.
 */
export function metadataError(error: unknown): IntegrationError {
  const done = 'The user’s fields were changed. The update of the metadata failed:'
  if (!isIntegrationError(error) || error.code === 'aborted') {
    return unknownOutcome(`${done} the caller ended the call.`, { cause: error })
  }
  const { code, message, hint, retryAfter, errors, provider, effect } = error
  const options = { hint, retryAfter, errors, provider, effect, cause: error }
  return new IntegrationError(code, `${done} ${message}`, options)
}

/** Makes the error for an argument that the client refuses before it sends anything. */
export function invalidArgument(path: string, message: string): IntegrationError {
  return new IntegrationError('invalid_arguments', `The arguments are invalid: ${path} ${message}.`, {
    errors: [{ path, message }],
  })
}
