/**
 * From the provider's failures to the error family: what happened, whether the mail may have gone out, and
 * what a person can do.
 *
 * @see https://postmarkapp.com/developer/api/overview#error-codes
 * @module
 */
import { type ErrorCode, IntegrationError, type IntegrationErrorOptions } from '@org/core/errors'
import { HttpFailure } from '@org/core/http'
import { type Refusal, readRefusal } from './wire.ts'

/** What can be done about the provider's codes that people meet; the set is open. */
const hints: Record<number, string> = {
  10: 'Check the Server API Token: it is in the provider’s settings of the mail server, under “API Tokens”.',
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
export function refusalError(refusal: Refusal, status?: number, cause?: unknown): IntegrationError {
  const { errorCode } = refusal
  const message = withoutAddresses(refusal.message)
  const options: IntegrationErrorOptions = {
    hint: hints[errorCode],
    provider: { name: 'mailer', status, code: String(errorCode), message },
    cause,
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
  if (error.kind === 'aborted' && !(sending && error.sent === 'unknown')) return error.cause
  const refusal = readRefusal(error.body)
  if (refusal && (error.sent === 'no' || refusal.errorCode === MAINTENANCE) && error.status !== 429) {
    return refusalError(refusal, error.status, error)
  }
  const options: IntegrationErrorOptions = {
    retryAfter: error.retryAfter,
    sent: sending ? error.sent : 'no',
    provider: {
      name: 'mailer',
      status: error.status,
      code: refusal && String(refusal.errorCode),
      message: refusal && withoutAddresses(refusal.message),
    },
    cause: error,
  }
  if (sending && error.sent === 'unknown') return unknownOutcome(error.message, options)
  if (error.status === 401) {
    return new IntegrationError('credentials_rejected', 'The mail provider does not accept the token.', {
      ...options,
      hint: hints[BAD_TOKEN],
    })
  }
  const [code, message] = classify(error)
  return new IntegrationError(code, message, options)
}

/** The error for a send of which nobody knows whether it happened. */
export function unknownOutcome(reason: string, options: IntegrationErrorOptions = {}): IntegrationError {
  return new IntegrationError('outcome_unknown', `It is not known whether the mail went out: ${reason}`, {
    hint: 'Look at the provider’s activity before sending it again.',
    ...options,
    sent: 'unknown',
  })
}

function classify(error: HttpFailure): [ErrorCode, string] {
  if (error.kind === 'timeout') return ['provider_timeout', 'The mail provider did not answer in time.']
  if (error.status === 429) return ['provider_rate_limited', 'The mail provider asks to slow down.']
  if (error.kind === 'status' && error.status !== undefined && error.status < 500) {
    return [
      'provider_rejected',
      `The mail provider answered with status ${error.status} and no reason; check the base URL, and what stands in between.`,
    ]
  }
  return ['provider_error', `The mail provider failed: ${error.message}`]
}

/** Without the addresses that the provider quotes: an error may end up in a log. */
function withoutAddresses(text: string): string {
  return text.replaceAll(/[^\s@<>,:;"']{1,64}@[^\s@<>,:;"']{1,255}/g, '[address]')
}
