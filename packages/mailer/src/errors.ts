/**
 * Maps the provider’s failures to `MailError`.
 *
 * @see https://postmarkapp.com/developer/api/overview#error-codes
 * @module
 */
import { type HttpFailure, maskAddresses, type Provider } from '@org/core/http'
import { MailError } from './mail-error.ts'
import { type Refusal, readRefusal, readServer } from './wire.ts'

/** What a call that sends mail changes, as the end of a sentence. */
export const SENDING = 'the mail was sent'

const TOKEN_HINT =
  'Check the Server API Token in the settings of the mail server. A gateway at baseUrl may need the token in one of the headers.'

const BAD_TOKEN = 10
const MAINTENANCE = 100
/** Statuses of calls that the provider would take later, whatever its words. */
const NOT_NOW = [408, 425, 429, 503]

/** The error for a message or a call that the provider refused with one of its codes. */
export function refusalError(
  { errorCode, message }: Refusal,
  { status, retryAfter }: Partial<Pick<HttpFailure, 'status' | 'retryAfter'>> = {},
  recipients?: readonly string[],
): MailError {
  const words = maskAddresses(message)
  const provider = { name: 'mailer', status, code: String(errorCode), message: words }
  const options = { retryAfter, provider, recipients, words: message }
  if (errorCode === BAD_TOKEN) {
    const text = 'The mail provider does not accept the token.'
    return new MailError('credentials_rejected', text, { ...options, hint: TOKEN_HINT })
  }
  if (errorCode === MAINTENANCE)
    return new MailError('provider_error', 'The mail provider is down for maintenance.', options)
  const text = `The mail provider refused (code ${errorCode}): ${words.split('\n')[0]}`
  return new MailError('provider_rejected', text, options)
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
  probe: { path: '/server', isAnswer: (body) => readServer(body) !== undefined },
  isOwnForm: (body) => readRefusal(body) !== undefined,
  readFailure(failure) {
    const refusal = readRefusal(failure.body)
    if (!refusal) return {}
    const isFinal = failure.effect === 'none' && !NOT_NOW.includes(failure.status ?? 0)
    if (isFinal || (failure.effect === 'none' && refusal.errorCode === MAINTENANCE))
      return refusalError(refusal, failure)
    return { code: String(refusal.errorCode), message: refusal.message }
  },
}
