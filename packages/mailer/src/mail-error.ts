import {
  errorCodes,
  IntegrationError,
  type IntegrationErrorOptions,
  isIntegrationError,
} from '@org/core/errors'
import { type MailErrorCode, toMailErrorCode } from './mail-error-codes.ts'
import type { MessageResult } from './result.ts'
import { findNamed } from './wire.ts'

/** The provider’s code for recipients that bounced or complained before. */
const INACTIVE = '406'

/** The facts of a {@link MailError} that name recipients. */
interface Facts {
  rejected?: readonly string[] | undefined
  results?: readonly MessageResult[] | undefined
  /** The provider’s own words, unmasked. */
  words?: string | undefined
}

/** Not fields of the error, so that an error that is printed shows no address. */
const factsOf = new WeakMap<object, Facts>()

/**
 * A failure of the mailer.
 *
 * @see https://postmarkapp.com/developer/api/overview#error-codes
 */
export class MailError extends IntegrationError {
  declare readonly code: MailErrorCode
  override readonly name = 'MailError'
  override readonly retryable: boolean

  constructor(
    code: MailErrorCode,
    message: string,
    options: IntegrationErrorOptions & Facts & { retryable?: boolean | undefined } = {},
  ) {
    super(code, message, options)
    const { rejected, results, words, retryable = errorCodes[code].retryable } = options
    this.retryable = retryable
    factsOf.set(this, { rejected, results, words })
  }

  /** The recipients that the provider refused because they are inactive. Printing the error does not show them. */
  get rejected(): readonly string[] {
    return factsOf.get(this)?.rejected ?? []
  }

  /** What the provider said, word for word: it may name people. Printing the error does not show it. */
  get providerMessage(): string | undefined {
    return factsOf.get(this)?.words || undefined
  }

  /** The results of a batch before the error, if there are any. Printing the error does not show them. */
  get results(): readonly MessageResult[] | undefined {
    return factsOf.get(this)?.results
  }
}

/** Facts that the caller of {@link toMailError} adds. */
export interface MailErrorFacts {
  /** The results of a batch before the error. */
  results?: readonly MessageResult[] | undefined
  rejected?: readonly string[] | undefined
  /** The recipients of the one mail that failed: the provider’s words name those that are inactive. */
  recipients?: readonly string[] | undefined
}

/**
 * Converts any thrown value, also `undefined`. What the error says stays as it is, and an error of an injected `fetch`
 * with a code that is none of the mailer’s stays itself.
 */
export function toMailError(error: unknown, facts: MailErrorFacts = {}): IntegrationError {
  if (!isIntegrationError(error)) return fromForeign(error, facts.results)
  const code = toMailErrorCode(error.code)
  if (!code) return error
  const { words = '', ...known } = factsOf.get(error) ?? {}
  const isInactive = error.provider?.code === INACTIVE && facts.recipients !== undefined
  const converted = new MailError(code, error.message, {
    ...error,
    cause: error.cause,
    words,
    results: facts.results ?? known.results,
    rejected: facts.rejected ?? (isInactive ? findNamed(words, facts.recipients ?? []) : known.rejected),
  })
  if (error.stack !== undefined) converted.stack = error.stack
  return converted
}

/** The error of the caller’s own code: a source of messages or a callback that throws. */
function fromForeign(cause: unknown, results: readonly MessageResult[] | undefined): MailError {
  const mayHaveSent = results?.some(({ status }) => status !== 'failed') ?? false
  return new MailError('internal_error', 'An error outside of the mailer ended the call: `cause` has it.', {
    hint: mayHaveSent ? 'Mails have left before: `results` has the result of each.' : undefined,
    effect: mayHaveSent ? 'unknown' : 'none',
    retryable: !mayHaveSent,
    results,
    cause,
  })
}

/** Recognises a {@link MailError}, also one of another installed copy of this package. */
export function isMailError(value: unknown): value is MailError {
  return isIntegrationError(value) && 'rejected' in value && 'results' in value
}
