/**
 * From a failed call to the error that an integration throws; what is the same for every provider.
 *
 * @module
 */
import { type ErrorCode, IntegrationError, type IntegrationErrorOptions } from '../errors.ts'
import type { HttpFailure } from './failure.ts'

/** What an integration knows of a failed call, beside the failure itself. */
export interface ProviderFacts {
  /** The neutral name of the integration, for example `mailer`. */
  name: string
  /** How a sentence names the provider, for example `The mail provider`. */
  title: string
  /**
   * What the call may have done, for example `the mail went out`. A failure without a clear answer is then
   * `outcome_unknown`, and must not be repeated. A call that only reads has none.
   */
  effect?: string | undefined
  /** The provider's own code. */
  code?: string | undefined
  /** The provider's own words. */
  message?: string | undefined
  /** What can be done about that code. */
  hint?: string | undefined
  /** What can be done where the credentials are not accepted. */
  credentialsHint: string
}

/**
 * The error for a call that failed.
 *
 * @returns an `IntegrationError`; or, where the caller ended the call and nothing can have happened, the
 * caller's own reason
 */
export function toProviderError(failure: HttpFailure, facts: ProviderFacts): unknown {
  const inDoubt = facts.effect !== undefined && failure.sent === 'unknown'
  if (failure.kind === 'aborted' && !inDoubt) return failure.cause
  const message = facts.message === undefined ? undefined : maskAddresses(facts.message)
  const options: IntegrationErrorOptions = {
    hint: facts.hint,
    retryAfter: failure.retryAfter,
    provider: { name: facts.name, status: failure.status, code: facts.code, message },
    cause: failure.cause ?? failure,
  }
  if (inDoubt) return unknownOutcome(`It is not known whether ${facts.effect}: ${failure.message}`, options)
  if (failure.status === 401) {
    return new IntegrationError('credentials_rejected', `${facts.title} does not accept the credentials.`, {
      ...options,
      hint: facts.credentialsHint,
    })
  }
  const [code, sentence] = classify(failure, facts.title, message)
  return new IntegrationError(code, sentence, options)
}

/** The error for a change of which nobody knows whether it was made. */
export function unknownOutcome(message: string, options: IntegrationErrorOptions = {}): IntegrationError {
  return new IntegrationError('outcome_unknown', message, {
    ...options,
    hint: 'Look at the provider before doing it again.',
    retryAfter: undefined,
    sent: 'unknown',
  })
}

/** A text without the mail addresses in it: an error may end up in a log. */
export function maskAddresses(text: string): string {
  if (!text.includes('@')) return text
  return text.replaceAll(/[^\s<>,;()"]+/g, (word) => {
    if (!word.includes('@')) return word
    return word.endsWith('.') ? '[address].' : '[address]'
  })
}

function asSentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`
}

function classify(failure: HttpFailure, title: string, message: string | undefined): [ErrorCode, string] {
  if (failure.kind === 'timeout' || failure.status === 408) {
    return failure.kind === 'timeout' && failure.sent === 'no'
      ? ['provider_timeout', 'The time was over before the call began.']
      : ['provider_timeout', `${title} did not answer in time.`]
  }
  if (failure.status === 429) return ['provider_rate_limited', `${title} asks to slow down.`]
  if (failure.kind === 'status' && failure.status !== undefined && failure.status < 500) {
    const reason = message
      ? `refused: ${asSentence(message)}`
      : `answered with status ${failure.status} and no reason; check the base URL, and what stands in between.`
    return ['provider_rejected', `${title} ${reason}`]
  }
  return ['provider_error', `${title} failed: ${failure.message}`]
}
