import {
  type ErrorCode,
  errorCodes,
  type FieldError,
  IntegrationError,
  type IntegrationErrorOptions,
  isIntegrationError,
} from '@org/core/errors'
import type { MessageResult } from './result.ts'
import { findNamed } from './wire.ts'

/** The provider’s code for recipients that bounced or complained before. */
const INACTIVE = '406'

/** The facts of a {@link MailError} that printing it must not show. */
export interface MailErrorFacts {
  /** The recipients of the one mail that failed: the provider’s words name those that are inactive. */
  recipients?: readonly string[] | undefined
  /** The results of a batch before the error. */
  results?: readonly MessageResult[] | undefined
  /** Whether a journal makes it safe to send a batch again of which mails have left. */
  isResumable?: boolean | undefined
  /** The provider’s own words, unmasked. */
  words?: string | undefined
}

/**
 * A failure of the mailer.
 *
 * @see https://postmarkapp.com/developer/api/overview#error-codes
 */
export class MailError extends IntegrationError {
  override readonly retryable: boolean
  // Private, so that an error that is printed shows no address.
  readonly #facts: MailErrorFacts

  constructor(code: ErrorCode, message: string, options: IntegrationErrorOptions & MailErrorFacts = {}) {
    // The provider’s own status, where it answered; else that of the code.
    super(code, message, { ...options, status: options.provider?.status ?? options.status })
    const { recipients, results, words, isResumable } = options
    this.retryable = errorCodes[code].retryable && (isResumable || this.effect === 'none')
    this.#facts = { recipients, results, words }
  }

  static {
    // On the prototype, where the first line of a stack finds it.
    Object.defineProperty(MailError.prototype, 'name', { value: 'MailError' })
  }

  /** The recipients that the provider refused because they are inactive. Printing the error does not show them. */
  get rejected(): readonly string[] {
    const { words = '', recipients = [] } = this.#facts
    return this.provider?.code === INACTIVE ? findNamed(words, recipients) : []
  }

  /** What the provider said, with the token masked. It may name people, so printing the error does not show it. */
  get providerMessage(): string | undefined {
    return this.#facts.words || undefined
  }

  /** The results of a batch before the error, if there are any. Printing the error does not show them. */
  get results(): readonly MessageResult[] | undefined {
    return this.#facts.results
  }
}

/** Converts any thrown value, also `undefined`. What the error says stays as it is. */
export function toMailError(error: unknown, facts?: MailErrorFacts): MailError {
  if (isMailError(error) && !facts) return error
  if (!isIntegrationError(error)) {
    const text = 'An error outside of the mailer ended the call: see `cause`.'
    return new MailError('internal_error', text, { cause: error })
  }
  const words = isMailError(error) ? error.providerMessage : undefined
  const converted = new MailError(error.code, error.message, {
    ...error,
    cause: error.cause,
    words,
    ...facts,
  })
  // The place where it was thrown, under its new name.
  converted.stack = String(error.stack).replace(/^\w+/, converted.name)
  return converted
}

/** Recognises a {@link MailError}, also one of another installed copy of this package. */
export function isMailError(value: unknown): value is MailError {
  return isIntegrationError(value) && 'rejected' in value && 'results' in value
}

/** The error for a message that must not be sent. */
export function invalidMessage(errors: readonly FieldError[], cause?: unknown): MailError {
  const first = errors[0] ? `${errors[0].path} ${errors[0].message}`.trim() : 'it is invalid'
  const more = errors.length > 1 ? `, and ${errors.length - 1} more` : ''
  return new MailError('invalid_arguments', `The message can’t be sent: ${first}${more}.`, { errors, cause })
}

/** A hostile message must not cause an error of megabytes. */
const MOST_REPORTED = 50

/** The faults of a message: no text of the message, only paths and reasons. */
export class Faults {
  readonly list: FieldError[] = []

  add(path: string, message: string): void {
    if (this.list.length < MOST_REPORTED) this.list.push({ path, message })
  }
}
