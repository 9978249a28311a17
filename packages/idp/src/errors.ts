/**
 * From the provider's failures to the error family: what happened, whether a change may have been made, and
 * what a person can do.
 *
 * @see https://clerk.com/docs/guides/development/errors/backend-api
 * @module
 */
import { IntegrationError } from '@org/core/errors'
import { HttpFailure, toProviderError, unknownOutcome } from '@org/core/http'
import { wireErrors } from './wire.ts'

const EFFECT = 'the change was made'

/** What can be done about the provider's codes that people meet; the set is open. */
const hints: Record<string, string> = {
  authentication_invalid: 'Check the secret key, and that it was not revoked.',
  secret_key_invalid: 'Check the secret key, and that it was not revoked.',
  resource_not_found: 'Check the id.',
  form_identifier_exists: 'Look the user up with listUsers, and update it instead.',
  form_password_pwned: 'Choose another password, or pass skipPasswordChecks.',
  form_data_missing:
    'Pass what is missing, or allow it to be missing in the application’s settings at the provider.',
  organization_not_enabled_in_instance: 'Enable organizations in the application’s settings at the provider.',
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
  const first = wireErrors.safeParse(error.body).data?.errors[0]
  const code = first?.code ?? undefined
  return toProviderError(error, {
    name: 'idp',
    title: 'The identity provider',
    effect: effect ? EFFECT : undefined,
    code,
    message: first?.long_message ?? first?.message ?? undefined,
    hint: code ? hints[code] : undefined,
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
