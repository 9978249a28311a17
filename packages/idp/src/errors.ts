/**
 * Turns failures of the provider into `IntegrationError`s: what happened, whether a change may have been made,
 * and what a person can do.
 *
 * @see https://clerk.com/docs/guides/development/errors/backend-api
 * @module
 */
import { IntegrationError, isIntegrationError } from '@org/core/errors'
import { HttpFailure, toProviderError, unknownOutcome } from '@org/core/http'
import { wireErrors } from './wire.ts'

const EFFECT = 'the change was made'
const ORGANIZATIONS_DISABLED = 'organization_not_enabled_in_instance'

/** Advice for the provider's most frequent codes. */
const hints: Record<string, string> = {
  resource_not_found: 'Check the id.',
  form_identifier_exists: 'Find the user with listUsers, and update it instead.',
  form_password_pwned: 'Choose another password, or pass skipPasswordChecks.',
  form_data_missing:
    'Pass the missing data, or make it optional in the application’s settings at the provider.',
  [ORGANIZATIONS_DISABLED]: 'Enable organizations in the application’s settings at the provider.',
  user_quota_exceeded: 'The instance is full: delete users, or change to a larger plan.',
}

/**
 * Makes the error for a failed call.
 *
 * @param effect whether the call changes something: a failure without a clear response is then
 * `outcome_unknown`, and must not be retried
 */
export function callError(error: unknown, effect: boolean): unknown {
  if (!(error instanceof HttpFailure)) return error
  const refusal = wireErrors.safeParse(error.body).data
  return toProviderError(error, {
    name: 'idp',
    title: 'The identity provider',
    effect: effect ? EFFECT : undefined,
    code: refusal?.code,
    message: refusal?.message,
    hint: refusal?.code === undefined ? undefined : hints[refusal.code],
    credentialsHint: 'Check the secret key. It may have been revoked.',
  })
}

/** Makes the error for a successful response with an invalid body. */
export function invalidResponse(status: number, effect: boolean): IntegrationError {
  const provider = { name: 'idp', status }
  const reason = 'The identity provider sent a response in an unknown format.'
  return effect
    ? unknownOutcome(`It is not known whether ${EFFECT}: ${reason}`, { provider })
    : new IntegrationError('provider_error', reason, { hint: 'Check the base URL.', provider })
}

/**
 * Makes the error for an update that changed the fields, and then failed to change the metadata. A retryable
 * error stays retryable: setting the same fields again does no harm.
 */
export function metadataError(error: unknown): IntegrationError {
  const done = 'The user’s fields were changed. The update of the metadata failed:'
  if (!isIntegrationError(error)) {
    return unknownOutcome(`${done} the caller ended the call.`, { cause: error })
  }
  const { code, message, hint, retryAfter, provider, sent } = error
  return new IntegrationError(code, `${done} ${message}`, { hint, retryAfter, provider, sent, cause: error })
}

/** Makes the error for an argument that the client refuses before it sends anything. */
export function invalidArgument(path: string, message: string): IntegrationError {
  return new IntegrationError('invalid_arguments', `The arguments are invalid: ${path} ${message}.`, {
    errors: [{ path, message }],
  })
}

/** Makes the error for a secret key that no HTTP header can hold. */
export function missingKey(): IntegrationError {
  return new IntegrationError(
    'missing_credentials',
    'The secret key is missing, or contains invalid characters.',
    { hint: 'Pass it as secretKey.' },
  )
}

/** Tells whether a call failed because organizations are disabled in the instance. */
export function isOrganizationsDisabled(error: unknown): boolean {
  return isIntegrationError(error) && error.provider?.code === ORGANIZATIONS_DISABLED
}
