/**
 * Maps the provider’s failures to `IntegrationError`.
 *
 * @see https://postmarkapp.com/developer/api/overview#error-codes
 * @module
 */
import { IntegrationError, type IntegrationErrorOptions } from '@org/core/errors'
import { HttpFailure, maskAddresses, toProviderError, unknownOutcome } from '@org/core/http'
import { type Refusal, readRefusal } from './wire.ts'

const EFFECT = 'the mail was sent'
const TOKEN_HINT =
  'Check the Server API Token: the provider shows it in the settings of the mail server, under “API Tokens”.'

/** Hints for the provider’s codes that users meet; other codes have none. */
const hints: Record<number, string> = {
  10: TOKEN_HINT,
  300: 'Check the addresses: the provider could not read one of them.',
  400: 'Add the From address as a sender signature at the provider, or use one that is confirmed.',
  401: 'Confirm the sender signature: the provider has sent a mail to that address.',
  405: 'The account is out of credits. Buy credits at the provider.',
  406: 'These recipients bounced or complained before. Reactivate them at the provider once that is settled.',
  411: 'The provider does not accept files of this type. Send a link instead.',
  412: 'The account waits for the provider’s approval. Until then it sends only to its own domain.',
  413: 'The account may not send. Ask the provider why.',
  1235: 'Check messageStream: the mail server has no stream with this id.',
  1236: 'Check messageStream: this stream does not send mail of this kind.',
}

const BAD_TOKEN = 10
const MAINTENANCE = 100

/** The error for a message or a call that the provider refused with one of its codes. */
export function refusalError(
  refusal: Refusal,
  { status, retryAfter }: { status?: number | undefined; retryAfter?: number | undefined } = {},
): IntegrationError {
  const { errorCode } = refusal
  const words = maskAddresses(refusal.message)
  const options: IntegrationErrorOptions = {
    hint: hints[errorCode],
    retryAfter,
    provider: { name: 'mailer', status, code: String(errorCode), message: words },
  }
  if (errorCode === BAD_TOKEN)
    return new IntegrationError(
      'credentials_rejected',
      'The mail provider does not accept the token.',
      options,
    )
  if (errorCode === MAINTENANCE)
    return new IntegrationError('provider_error', 'The mail provider is down for maintenance.', options)
  const message = `The mail provider refused (code ${errorCode}): ${words.split('\n')[0]}`
  return new IntegrationError('provider_rejected', message, options)
}

/**
 * The error for a failed call.
 *
 * @param sending whether the call may have sent a mail: a failure without a clear answer is then
 * `outcome_unknown`, and must not be retried
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

/** The error for a successful response with an unexpected body. */
export function unexpectedResponse(status: number, sending: boolean): IntegrationError {
  const provider = { name: 'mailer', status }
  const reason = 'The mail provider’s response has an unexpected body.'
  return sending
    ? unknownOutcome(`It is not known whether ${EFFECT}: ${reason}`, { provider })
    : new IntegrationError('provider_error', reason, { hint: 'Check the base URL.', provider })
}

/** The error for a call without a usable token. */
export function missingToken(): IntegrationError {
  const message = 'The Server API Token is missing, or contains an invalid character.'
  return new IntegrationError('missing_credentials', message, { hint: 'Pass it as apiToken.' })
}
