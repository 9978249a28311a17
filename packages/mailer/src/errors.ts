/**
 * From the provider's failures to the error family: what happened, whether the mail may have gone out, and
 * what a person can do.
 *
 * @see https://postmarkapp.com/developer/api/overview#error-codes
 * @module
 */
import { IntegrationError, type IntegrationErrorOptions } from '@org/core/errors'
import { HttpFailure, maskAddresses, toProviderError, unknownOutcome } from '@org/core/http'
import { type Refusal, readRefusal } from './wire.ts'

const EFFECT = 'the mail went out'
const TOKEN_HINT =
  'Check the Server API Token: it is in the provider’s settings of the mail server, under “API Tokens”.'

/** What can be done about the provider's codes that people meet; the set is open. */
const hints: Record<number, string> = {
  10: TOKEN_HINT,
  300: 'Check the addresses: the provider could not read one of them.',
  400: 'Add the From address as a sender signature at the provider, or send from one that is there.',
  401: 'Confirm the sender signature: the provider has sent a mail to that address.',
  405: 'The account is out of credits: top it up at the provider.',
  406: 'These recipients bounced or complained before; reactivate them at the provider if that is settled.',
  411: 'The provider does not take files of that type; send a link instead.',
  412: 'The account waits for the provider’s approval: until then it sends only to its own domain.',
  413: 'The account may not send; ask the provider why.',
  1235: 'Check messageStream: the mail server has no stream of that id.',
  1236: 'Check messageStream: that stream is not for this kind of mail.',
}

const BAD_TOKEN = 10
const MAINTENANCE = 100

/** The error for a message, or a call, that the provider refused with a code of its own. */
export function refusalError(
  refusal: Refusal,
  { status, retryAfter }: { status?: number | undefined; retryAfter?: number | undefined } = {},
): IntegrationError {
  const { errorCode } = refusal
  const message = maskAddresses(refusal.message)
  const options: IntegrationErrorOptions = {
    hint: hints[errorCode],
    retryAfter,
    provider: { name: 'mailer', status, code: String(errorCode), message },
  }
  const words = message.split('\n')[0]
  if (errorCode === BAD_TOKEN) {
    return new IntegrationError(
      'credentials_rejected',
      'The mail provider does not accept the token.',
      options,
    )
  }
  if (errorCode === MAINTENANCE) {
    return new IntegrationError('provider_error', 'The mail provider is down for maintenance.', options)
  }
  return new IntegrationError(
    'provider_rejected',
    `The mail provider refused (code ${errorCode}): ${words}`,
    options,
  )
}

/**
 * The error for a call that failed.
 *
 * @param sending whether the call may have put a mail on its way: then a failure without a clear answer is
 * `outcome_unknown`, and must not be repeated
 */
export function callError(error: unknown, sending: boolean): unknown {
  if (!(error instanceof HttpFailure)) return error
  const refusal = readRefusal(error.body)
  if (refusal && (error.sent === 'no' || refusal.errorCode === MAINTENANCE) && error.status !== 429) {
    return refusalError(refusal, error)
  }
  return toProviderError(error, {
    name: 'mailer',
    title: 'The mail provider',
    effect: sending ? EFFECT : undefined,
    code: refusal && String(refusal.errorCode),
    message: refusal?.message,
    credentialsHint: TOKEN_HINT,
  })
}

/** The error for a success whose body is not what the provider promises. */
export function notUnderstood(status: number, sending: boolean): IntegrationError {
  const provider = { name: 'mailer', status }
  const reason = 'The mail provider’s answer could not be understood.'
  return sending
    ? unknownOutcome(`It is not known whether ${EFFECT}: ${reason}`, { provider })
    : new IntegrationError('provider_error', reason, { hint: 'Check the base URL.', provider })
}

/** The error for a call that has no token to show, or one that no header can hold. */
export function missingToken(): IntegrationError {
  const message = 'The Server API Token is missing, or holds a character that no token can have.'
  return new IntegrationError('missing_credentials', message, { hint: 'Pass it as apiToken.' })
}
