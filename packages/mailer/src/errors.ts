/**
 * Maps the provider’s failures to `IntegrationError`.
 *
 * @see https://postmarkapp.com/developer/api/overview#error-codes
 * @module
 */
import { IntegrationError, type IntegrationErrorOptions, toIntegrationError } from '@org/core/errors'
import { maskAddresses, type Provider } from '@org/core/http'
import type { MessageResult } from './batch.ts'
import { type Refusal, readRefusal } from './wire.ts'

/** The effect of a call that sends mail, as the end of a sentence. */
export const SENDING = 'the mail was sent'

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

/** The provider, as errors name it. */
export const mailProvider: Provider = {
  name: 'mailer',
  title: 'The mail provider',
  credentials: {
    title: 'Server API Token',
    missingHint: 'Pass it as apiToken.',
    rejectedHint: TOKEN_HINT,
  },
  readFailure(failure) {
    const refusal = readRefusal(failure.body)
    if (!refusal) return {}
    const isCertain = failure.effect === 'none' || refusal.errorCode === MAINTENANCE
    if (isCertain && failure.status !== 429) return refusalError(refusal, failure)
    return { code: String(refusal.errorCode), message: refusal.message }
  },
}

/** A failure of the mailer. */
export class MailError extends IntegrationError {
  readonly #facts: {
    rejected?: readonly string[] | undefined
    results?: readonly MessageResult[] | undefined
  }
  constructor(
    error: IntegrationError,
    facts: { rejected?: readonly string[]; results?: readonly MessageResult[] },
  ) {
    super(error.code, error.message, error)
    this.#facts = facts
  }
  get rejected(): readonly string[] {
    return this.#facts.rejected ?? []
  }
  get results(): readonly MessageResult[] | undefined {
    return this.#facts.results
  }
}

export function toMailError(
  error: unknown,
  facts: { rejected?: readonly string[]; results?: readonly MessageResult[] } = {},
): MailError {
  return new MailError(toIntegrationError(error), facts)
}
