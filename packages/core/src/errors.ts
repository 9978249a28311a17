/**
 * The error family. Every failure that a caller can see is an {@link IntegrationError}: it says what to do
 * (`status`, `retryable`, `retryAfter`, `hint`), not only what happened.
 *
 * @module
 */

interface CodeFacts {
  status: number
  retryable: boolean
  title: string
}

/** Every code, with the HTTP status it is answered with and whether the same call may succeed later (contract §2). */
export const errorCodes = {
  invalid_json: { status: 400, retryable: false, title: 'The body is not JSON' },
  invalid_event: { status: 400, retryable: false, title: 'The event does not fit' },
  invalid_signature: { status: 401, retryable: false, title: 'The signature does not fit' },
  not_found: { status: 404, retryable: false, title: 'Not found' },
  unknown_function: { status: 404, retryable: false, title: 'No such function' },
  method_not_allowed: { status: 405, retryable: false, title: 'Method not allowed' },
  delivery_in_progress: { status: 409, retryable: true, title: 'The delivery is being worked on' },
  outcome_unknown: { status: 409, retryable: false, title: 'The outcome is unknown' },
  body_too_large: { status: 413, retryable: false, title: 'The body is too large' },
  unsupported_media_type: { status: 415, retryable: false, title: 'The body must be JSON' },
  invalid_inputs: { status: 422, retryable: false, title: 'The deployment inputs do not fit' },
  invalid_arguments: { status: 422, retryable: false, title: 'The arguments do not fit' },
  missing_credentials: { status: 422, retryable: false, title: 'Credentials are missing' },
  credentials_rejected: { status: 422, retryable: false, title: 'The provider rejected the credentials' },
  provider_rejected: { status: 422, retryable: false, title: 'The provider rejected the request' },
  provider_rate_limited: { status: 429, retryable: true, title: 'The provider asks to slow down' },
  internal_error: { status: 500, retryable: true, title: 'Internal error' },
  provider_error: { status: 502, retryable: true, title: 'The provider failed' },
  platform_unavailable: { status: 502, retryable: true, title: 'The platform could not be reached' },
  shutting_down: { status: 503, retryable: true, title: 'Shutting down' },
  overloaded: { status: 503, retryable: true, title: 'Overloaded' },
  provider_timeout: { status: 504, retryable: true, title: 'The provider did not answer in time' },
} as const satisfies Record<string, CodeFacts>

/** What went wrong, as a word that a program can decide by. */
export type ErrorCode = keyof typeof errorCodes

/** One fault of an input: where it is, and what was expected there. */
export interface FieldError {
  /** For example `deployment.inputs.apiToken` or `messages[3].to`. */
  path: string
  message: string
}

/** What the provider itself said when it refused. */
export interface ProviderRefusal {
  /** The neutral name of the integration, for example `mailer`. */
  name: string
  /** The provider's HTTP status, where it answered at all. */
  status?: number | undefined
  /** The provider's own code. */
  code?: string | undefined
  /** The provider's own words. */
  message?: string | undefined
}

/** What an {@link IntegrationError} may carry beside its code and message. */
export interface IntegrationErrorOptions {
  /** What a person can do about it, as a sentence. */
  hint?: string | undefined
  /** Seconds to wait before another try. */
  retryAfter?: number | undefined
  /** The faults of the input, one per field. */
  errors?: readonly FieldError[] | undefined
  provider?: ProviderRefusal | undefined
  /**
   * Whether the effect of the call may have happened all the same.
   * @default 'no'
   */
  effect?: 'none' | 'unknown' | undefined
  /** Overrides the status of the code, where the contract gives one code two statuses. */
  status?: number | undefined
  cause?: unknown
}

const marker = Symbol.for('@org/core/IntegrationError')

/**
 * A failure that carries the decision what to do next.
 *
 * @example
 * ```ts
 * try {
 *   await mailer.sendEmail(message)
 * } catch (error) {
 *   if (isIntegrationError(error) && error.retryable) queue.retry(message, { afterSeconds: error.retryAfter })
 *   else throw error
 * }
 * ```
 */
export class IntegrationError extends Error {
  override readonly name = 'IntegrationError'
  readonly code: ErrorCode
  /** The HTTP status that a webhook answers with; the provider's own is `provider.status`. */
  readonly status: number
  /** Whether the same call may succeed later, without risk of doing something twice. */
  readonly retryable: boolean
  /** `none`: nothing happened at the provider. `unknown`: it may have happened, so do not simply repeat it. */
  readonly effect: 'none' | 'unknown'
  readonly hint: string | undefined
  readonly retryAfter: number | undefined
  readonly errors: readonly FieldError[] | undefined
  readonly provider: ProviderRefusal | undefined
  readonly [marker] = true

  /**
   * @param code what went wrong; it decides `status` and `retryable`
   * @param message one sentence for the person who reads it; never a secret, never a message body
   */
  constructor(code: ErrorCode, message: string, options: IntegrationErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.status = options.status ?? errorCodes[code].status
    this.retryable = errorCodes[code].retryable
    this.effect = options.effect ?? 'none'
    this.hint = options.hint
    this.retryAfter = options.retryAfter
    this.errors = options.errors
    this.provider = options.provider
  }
}

/**
 * Tells an {@link IntegrationError} from anything else, also across two installed copies of this package,
 * where `instanceof` fails.
 */
export function isIntegrationError(value: unknown): value is IntegrationError {
  return typeof value === 'object' && value !== null && marker in value
}

/** Any thrown value as an error of the family; what is not one becomes an `internal_error` that tells nothing. */
export function toIntegrationError(error: unknown): IntegrationError {
  if (isIntegrationError(error)) return error
  return new IntegrationError('internal_error', 'Something went wrong in the host; its log has the reason.', {
    cause: error,
  })
}
