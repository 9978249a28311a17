/**
 * From the provider's failures to the error family: what happened, whether a change may have been made, and
 * what a person can do.
 *
 * @see https://clerk.com/docs/guides/development/errors/backend-api
 * @module
 */
import { IntegrationError, isIntegrationError } from '@org/core/errors'
import { HttpFailure, toProviderError, unknownOutcome } from '@org/core/http'
import { wireErrors } from './wire.ts'

const EFFECT = 'the change was made'
const NO_ORGANIZATIONS = 'organization_not_enabled_in_instance'

/** What can be done about the provider's codes that people meet; the set is open. */
const hints: Record<string, string> = {
  resource_not_found: 'Check the id.',
  form_identifier_exists: 'Look the user up with listUsers, and update it instead.',
  form_password_pwned: 'Choose another password, or pass skipPasswordChecks.',
  form_data_missing:
    'Pass what is missing, or allow it to be missing in the application’s settings at the provider.',
  [NO_ORGANIZATIONS]: 'Enable organizations in the application’s settings at the provider.',
  user_quota_exceeded: 'The instance is full: delete users that are not needed, or go to a larger plan.',
}

/**
 * The error for a call that failed.
 *
 * @param effect whether the call changes something: then a failure without a clear answer is
 * `outcome_unknown`, and must not be repeated
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
    credentialsHint: 'Check the secret key, and that it was not revoked.',
  })
}

/** The error for a success whose body is not what the provider promises. */
export function notUnderstood(status: number, effect: boolean): IntegrationError {
  const provider = { name: 'idp', status }
  const reason = 'The identity provider’s answer could not be understood.'
  return effect
    ? unknownOutcome(`It is not known whether ${EFFECT}: ${reason}`, { provider })
    : new IntegrationError('provider_error', reason, { hint: 'Check the base URL.', provider })
}

/**
 * The error for an update whose fields were changed before its metadata failed. It stays retryable where it
 * was: setting the same fields again does no harm.
 */
export function halfDone(error: unknown): IntegrationError {
  const done = 'The user’s fields were changed. Then, for the metadata:'
  if (!isIntegrationError(error))
    return unknownOutcome(`${done} the caller ended the call.`, { cause: error })
  const { code, message, hint, retryAfter, provider, sent } = error
  return new IntegrationError(code, `${done} ${message}`, { hint, retryAfter, provider, sent, cause: error })
}

/** The error for an argument that must not leave. */
export function invalidArgument(path: string, message: string): IntegrationError {
  return new IntegrationError('invalid_arguments', `The arguments do not fit: ${path} ${message}.`, {
    errors: [{ path, message }],
  })
}

/** The error for a secret key that can't even be sent. */
export function missingKey(): IntegrationError {
  return new IntegrationError(
    'missing_credentials',
    'The secret key is missing, or holds characters that no key has.',
    { hint: 'Pass it as secretKey.' },
  )
}

/** Whether a call failed because the instance does not use organizations. */
export function isWithoutOrganizations(error: unknown): boolean {
  return isIntegrationError(error) && error.provider?.code === NO_ORGANIZATIONS
}
