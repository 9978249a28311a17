/**
 * Every failure that a caller can see is an {@link IntegrationError}: it says what happened and what to do.
 */

/** Each error code with its HTTP status, and whether the same call may succeed later (contract §2). */
export const errorCodes = {
  invalid_json: { status: 400, retryable: false, title: 'The body is not valid JSON' },
  invalid_event: { status: 400, retryable: false, title: 'The event is invalid' },
  invalid_signature: { status: 401, retryable: false, title: 'The signature is invalid' },
  not_found: { status: 404, retryable: false, title: 'Not found' },
  unknown_function: { status: 404, retryable: false, title: 'The function is unknown' },
  method_not_allowed: { status: 405, retryable: false, title: 'Method not allowed' },
  delivery_in_progress: { status: 409, retryable: true, title: 'The delivery is in progress' },
  outcome_unknown: { status: 409, retryable: false, title: 'The outcome is unknown' },
  body_too_large: { status: 413, retryable: false, title: 'The body is too large' },
  unsupported_media_type: { status: 415, retryable: false, title: 'The media type is not supported' },
  invalid_inputs: { status: 422, retryable: false, title: 'The deployment inputs are invalid' },
  invalid_arguments: { status: 422, retryable: false, title: 'The arguments are invalid' },
  missing_credentials: { status: 422, retryable: false, title: 'Credentials are missing' },
  credentials_rejected: { status: 422, retryable: false, title: 'The provider rejected the credentials' },
  provider_rejected: { status: 422, retryable: false, title: 'The provider rejected the request' },
  deployment_deleted: { status: 422, retryable: false, title: 'The deployment was deleted' },
  provider_rate_limited: { status: 429, retryable: true, title: 'The provider’s rate limit is exceeded' },
  internal_error: { status: 500, retryable: true, title: 'Internal error' },
  provider_error: { status: 502, retryable: true, title: 'The provider failed' },
  platform_unavailable: { status: 502, retryable: true, title: 'The platform is unavailable' },
  shutting_down: { status: 503, retryable: true, title: 'The host is shutting down' },
  overloaded: { status: 503, retryable: true, title: 'The host is overloaded' },
  provider_timeout: { status: 504, retryable: true, title: 'The provider did not answer in time' },
  // For users of a client; no webhook answers with it.
  aborted: { status: 499, retryable: true, title: 'The caller ended the call' },
} as const satisfies Record<string, { status: number; retryable: boolean; title: string }>

/** The cause of a failure, as a word for programs. */
export type ErrorCode = keyof typeof errorCodes

/** One invalid field of an input. */
export interface FieldError {
  /** For example `deployment.inputs.apiToken` or `messages[3].to`; empty if no field is at fault. */
  path: string
  message: string
  /** The number of faults that the entry stands for; 1 by default. */
  count?: number
}

/** The provider's own error, if it refused a request. */
export interface ProviderRefusal {
  /** The neutral name of the integration, for example `mailer`. */
  name: string
  /** The provider's HTTP status, if it answered at all. */
  status?: number | undefined
  code?: string | undefined
  message?: string | undefined
  /** The provider's own id of its response, which its support asks for. */
  traceId?: string | undefined
}

/** Options of an {@link IntegrationError}. */
export interface IntegrationErrorOptions {
  /** Advice for a person, as a sentence. */
  hint?: string | undefined
  /** Seconds to wait before a retry. */
  retryAfter?: number | undefined
  /** The invalid fields of the input. */
  errors?: readonly FieldError[] | undefined
  provider?: ProviderRefusal | undefined
  /** Whether the call may have had an effect; `none` by default. */
  effect?: 'none' | 'unknown' | undefined
  /** Overrides the status of the code, where the contract has two. */
  status?: number | undefined
  cause?: unknown
}

const marker = Symbol.for('@org/core/IntegrationError')

/**
 * A failure that says what to do next.
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
  /** The HTTP status of the webhook's response; the provider's own is `provider.status`. */
  readonly status: number
  /** Whether the same call may succeed later, without the risk of a second effect. */
  readonly retryable: boolean
  /** `none`: the call had no effect. `unknown`: it may have had one, so do not simply repeat it. */
  readonly effect: 'none' | 'unknown'
  readonly hint: string | undefined
  readonly retryAfter: number | undefined
  readonly errors: readonly FieldError[] | undefined
  readonly provider: ProviderRefusal | undefined
  readonly [marker] = true

  /**
   * @param code the cause; it decides `status` and `retryable`
   * @param message one sentence for people; never a secret, never a message body
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

/** Recognises an {@link IntegrationError}, also one of another installed copy of this package. */
export function isIntegrationError(value: unknown): value is IntegrationError {
  return typeof value === 'object' && value !== null && marker in value
}

/**
 * Converts any thrown value into the error that a webhook answers with. Anything else than an
 * {@link IntegrationError}, and a handler that aborts its own call, is an `internal_error` without details.
 */
export function toIntegrationError(error: unknown): IntegrationError {
  if (isIntegrationError(error) && error.code !== 'aborted') return error
  const message = 'An internal error occurred. The log of the host has the cause.'
  return new IntegrationError('internal_error', message, { cause: error })
}
