/**
 * From the provider's failures to the error family: what happened, whether a change may have been made, and
 * what a person can do.
 *
 * @module
 */
import { IntegrationError } from '@org/core/errors'
import { HttpFailure, toProviderError, unknownOutcome } from '@org/core/http'
import { wireRefusal } from './wire.ts'

const EFFECT = 'the change was made'

/** What can be done about the provider's codes that people meet; the set is open. */
const hints: Readonly<Record<string, string>> = {
  account_full: 'Delete items that are not needed, or go to a larger plan.',
}

/**
 * The error for a call that failed.
 *
 * @param effect whether the call changes something: then a failure without a clear answer is
 * `outcome_unknown`, and must not be repeated
 */
export function callError(error: unknown, effect: boolean): unknown {
  if (!(error instanceof HttpFailure)) return error
  const { code, message } = wireRefusal.safeParse(error.body).data ?? {}
  return toProviderError(error, {
    name: 'example-service',
    title: 'The provider',
    effect: effect ? EFFECT : undefined,
    code,
    message,
    hint: code === undefined ? undefined : hints[code],
    credentialsHint: 'Check the API token, and that it was not revoked.',
  })
}

/** The error for a success whose body is not what the provider promises. */
export function notUnderstood(status: number, effect: boolean): IntegrationError {
  const provider = { name: 'example-service', status }
  const reason = 'The provider’s answer could not be understood.'
  return effect
    ? unknownOutcome(`It is not known whether ${EFFECT}: ${reason}`, { provider })
    : new IntegrationError('provider_error', reason, { hint: 'Check the base URL.', provider })
}

/** The error for a call that has no token to show, or one that no header can hold. */
export function missingToken(): IntegrationError {
  const message = 'The API token is missing, or holds a character that no token can have.'
  return new IntegrationError('missing_credentials', message, { hint: 'Pass it as apiToken.' })
}
