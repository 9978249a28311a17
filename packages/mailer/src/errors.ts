/**
 * Maps the provider’s failures to `MailError`.
 *
 * @see https://postmarkapp.com/developer/api/overview#error-codes
 * @module
 */
import { maskAddresses, type Provider } from '@org/core/http'
import { MailError } from './mail-error.ts'
import { findNamed, type Refusal, readRefusal, readServer } from './wire.ts'

/** What a call that sends mail changes, as the end of a sentence. */
export const SENDING = 'the mail was sent'

const TOKEN_HINT =
  'Check the Server API Token: the provider shows it in the settings of the mail server, under “API Tokens”. A gateway at baseUrl may need tokenHeader.'

/** Hints for the provider’s codes that users meet; other codes have none. */
const hints: Record<number, string> = {
  10: TOKEN_HINT,
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

/** The provider’s code 300 is for anything in a message, so its words decide. The first that matches holds. */
const hintsFor300: [words: RegExp, hint: string][] = [
  [/attachment|base64/i, 'Check attachments: the provider could not read one of them.'],
  [/metadata/i, 'Check metadata: at most 10 values, names of 20 characters, values of 80.'],
  [/header/i, 'Check headers: the provider does not accept one of them.'],
  [/exceed|maximum|size|too l/i, 'The message exceeds a limit of the provider: see provider.message.'],
  [/body/i, 'Check htmlBody and textBody.'],
  [/address|mailbox|parsing|recipient/i, 'Check the addresses: the provider could not read one of them.'],
]

const BAD_TOKEN = 10
const MAINTENANCE = 100
const INVALID_REQUEST = 300
const INACTIVE = 406
/** Statuses of calls that the provider would take later, whatever its words. */
const NOT_NOW = [408, 425, 429, 503]

/**
 * The error for a message or a call that the provider refused with one of its codes.
 *
 * @param facts `recipients`: those of the message, if it was one
 */
export function refusalError(
  { errorCode, message }: Refusal,
  facts: {
    status?: number | undefined
    retryAfter?: number | undefined
    recipients?: readonly string[] | undefined
  } = {},
): MailError {
  const words = maskAddresses(message)
  const options = {
    hint: hintOf(errorCode, message),
    retryAfter: facts.retryAfter,
    provider: { name: 'mailer', status: facts.status, code: String(errorCode), message: words },
    rejected: errorCode === INACTIVE ? findNamed(message, facts.recipients ?? []) : undefined,
    words: message,
  }
  if (errorCode === BAD_TOKEN)
    return new MailError('credentials_rejected', 'The mail provider does not accept the token.', options)
  if (errorCode === MAINTENANCE)
    return new MailError('provider_error', 'The mail provider is down for maintenance.', options)
  const text = `The mail provider refused (code ${errorCode}): ${words.split('\n')[0]}`
  return new MailError('provider_rejected', text, options)
}

function hintOf(errorCode: number, words: string): string | undefined {
  if (errorCode !== INVALID_REQUEST) return hints[errorCode]
  return (
    hintsFor300.find(([pattern]) => pattern.test(words))?.[1] ?? 'Check the message: see provider.message.'
  )
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
