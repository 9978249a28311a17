/** The meaning of a failed call to the user of an integration. */
import {
  type ErrorCode,
  type FieldError,
  IntegrationError,
  type IntegrationErrorOptions,
  isIntegrationError,
  shortageOf,
  toIntegrationError,
} from '../errors.ts'
import { maskAddresses } from '../log.ts'
import type { HttpFailure } from './response.ts'

/** The provider's own code and words, and our hint for that code. */
export interface ProviderWords {
  code?: string | undefined
  message?: string | undefined
  hint?: string | undefined
  /** Every fault that the provider names. */
  errors?: readonly FieldError[] | undefined
  /** The provider's id of its response. */
  traceId?: string | undefined
}

/** One provider, as errors name it. */
export interface Provider {
  /** The neutral name of the integration, for example `mailer`. */
  name: string
  /** The subject of a sentence, for example `The mail provider`. */
  title: string
  credentials: {
    /** For example `Server API Token`. */
    title: string
    /** The hint of the error for missing credentials, for example `Pass it as apiToken.` */
    missingHint: string
    /** The hint of the error for rejected credentials. */
    rejectedHint: string
  }
  /** Whether a body is one that the provider itself sends with a failure: a gateway in front of it has another form. */
  isOwnForm: (body: unknown) => boolean
  /** A read that changes nothing, which tells whether the provider answers again. */
  probe: {
    /** With a leading slash. */
    path: string
    /** Whether the body of a 2xx response is the provider's own: a page of a gateway is not. */
    isAnswer: (body: unknown) => boolean
  }
  /**
   * Reads the provider's own words from a failure, or decides what the failure means. It is asked before a retry: an
   * error that is not retryable ends the call, even after a 429.
   */
  readFailure: (failure: HttpFailure) => ProviderWords | IntegrationError
}

/**
 * The error for a failed call.
 *
 * @param facts `change` if the call changes something; see `ProviderRequest`
 * @returns if the caller ended the call before it had an effect: `aborted`, or the caller's reason if that is an
 * `IntegrationError`
 */
export function toProviderError(
  failure: HttpFailure,
  { provider, change, words }: { provider: Provider; change: string | undefined; words: ProviderWords },
): IntegrationError {
  const inDoubt = change !== undefined && failure.effect === 'unknown'
  // The host's own reason, such as a lost lease.
  if (failure.kind === 'aborted' && !inDoubt && isIntegrationError(failure.cause)) return failure.cause
  const message = words.message === undefined ? undefined : maskAddresses(words.message)
  const { code, hint, traceId } = words
  const options: IntegrationErrorOptions = {
    hint,
    retryAfter: failure.retryAfter,
    errors: listErrors(words.errors),
    provider: { name: provider.name, status: failure.status, code, message, traceId },
    cause: failure.cause ?? failure,
  }
  if (inDoubt) return unknownOutcome(`It is not known whether ${change}: ${failure.message}`, options)
  if (shortageOf(failure)) return toIntegrationError(options.cause)
  if (failure.status === 401 && failure.isOwnForm) {
    const { title, rejectedHint: hint } = provider.credentials
    const sentence = `${provider.title} does not accept the ${title}.`
    return new IntegrationError('credentials_rejected', sentence, { ...options, hint })
  }
  const [kind, sentence] = classify(failure, provider.title, message)
  return new IntegrationError(kind, sentence, options)
}

/** The error for a change that may have been made. */
export function unknownOutcome(message: string, options: IntegrationErrorOptions = {}): IntegrationError {
  return new IntegrationError('outcome_unknown', message, {
    ...options,
    hint: 'Check at the provider before you repeat it.',
    retryAfter: undefined,
    effect: 'unknown',
  })
}

function classify(failure: HttpFailure, title: string, message: string | undefined): [ErrorCode, string] {
  const { kind, status = 500 } = failure
  if (kind === 'aborted') return ['aborted', failure.message]
  if (kind === 'timeout' && failure.effect === 'none')
    return ['provider_timeout', 'The time was over before the call began.']
  if (kind === 'timeout' || status === 408) return ['provider_timeout', `${title} did not answer in time.`]
  if (status === 429) return ['provider_rate_limited', `${title} asks to slow down.`]
  const isRefusal = kind === 'status' && status < 500
  if (isRefusal && !failure.isOwnForm) {
    const sentence = `Status ${status} did not come from the provider itself; check the base URL.`
    return ['provider_error', sentence]
  }
  if (isRefusal && status !== 425) {
    const reason = message ? `: ${asSentence(message)}` : ' without a reason.'
    return ['provider_rejected', `${title} refused${reason}`]
  }
  return ['provider_error', `${title} failed: ${failure.message}`]
}

function asSentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`
}

/** The provider's faults. A single one without a field is the message itself. */
function listErrors(errors: ProviderWords['errors'] = []): ProviderWords['errors'] {
  if (errors.every(({ path }) => path === '') && errors.length <= 1) return undefined
  return errors.map((error) => ({ ...error, message: maskAddresses(error.message) }))
}
