/**
 * Every failure that a caller can see is an {@link IntegrationError}: it says what happened and what to do.
 */

/** Each error code with its HTTP status, and whether the same call may succeed later (contract §2). */
export const errorCodes = {
  invalid_json: { status: 400, retryable: false },
  invalid_event: { status: 400, retryable: false },
  invalid_signature: { status: 401, retryable: false },
  not_found: { status: 404, retryable: false },
  unknown_function: { status: 404, retryable: false },
  method_not_allowed: { status: 405, retryable: false },
  delivery_in_progress: { status: 409, retryable: true },
  outcome_unknown: { status: 409, retryable: false },
  body_too_large: { status: 413, retryable: false },
  unsupported_media_type: { status: 415, retryable: false },
  invalid_inputs: { status: 422, retryable: false },
  invalid_arguments: { status: 422, retryable: false },
  missing_credentials: { status: 422, retryable: false },
  credentials_rejected: { status: 422, retryable: false },
  provider_rejected: { status: 422, retryable: false },
  deployment_deleted: { status: 422, retryable: false },
  deletion_refused: { status: 422, retryable: false },
  provider_rate_limited: { status: 429, retryable: true },
  internal_error: { status: 500, retryable: true },
  provider_error: { status: 502, retryable: true },
  platform_unavailable: { status: 502, retryable: true },
  shutting_down: { status: 503, retryable: true },
  overloaded: { status: 503, retryable: true },
  provider_timeout: { status: 504, retryable: true },
  // For users of a client; no webhook answers with it.
  aborted: { status: 499, retryable: true },
} as const satisfies Record<string, { status: number; retryable: boolean }>

/** The cause of a failure, as a word for programs. */
export type ErrorCode = keyof typeof errorCodes

/** One invalid field of an input. */
export interface FieldError {
  /** For example `deployment.inputs.apiToken` or `messages[3].to`; empty if no field is at fault. */
  path: string
  message: string
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
  readonly code: ErrorCode
  /** The HTTP status of the webhook's response; of a `MailError`, the provider's own. */
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

  static {
    // On the prototype, where the first line of a stack finds it.
    Object.defineProperty(IntegrationError.prototype, 'name', { value: 'IntegrationError' })
  }
}

/** Recognises an {@link IntegrationError}, also one of another installed copy of this package. */
export function isIntegrationError(value: unknown): value is IntegrationError {
  return typeof value === 'object' && value !== null && marker in value
}

/**
 * Converts any thrown value into the error that a webhook answers with. Anything else than an
 * {@link IntegrationError}, and a handler that aborts its own call, is an `internal_error` without details. A shortage of the
 * host is `overloaded`.
 */
export function toIntegrationError(error: unknown): IntegrationError {
  if (isIntegrationError(error) && error.code !== 'aborted') return error
  const shortage = shortageOf(error)
  if (shortage) {
    const sentence = `This host has no descriptor, memory or disk left for it (${shortage}).`
    return new IntegrationError('overloaded', sentence, { retryAfter: 1, cause: error })
  }
  const message = 'An internal error occurred. The log of the host has the cause.'
  return new IntegrationError('internal_error', message, { cause: error })
}

/**
 * The innermost cause of an error. The errors around it belong to the HTTP client, and may hold a request with its token.
 */
export function rootOf(error: unknown): unknown {
  let link = error
  for (let depth = 0; link instanceof Error && link.cause instanceof Error && depth < 10; depth += 1)
    link = link.cause
  return link
}

/**
 * The cause of a failure for a log: its code and its words, such as `CERT_HAS_EXPIRED: certificate has expired`.
 *
 * @param url of the call that failed: its host is named, too
 */
export function causeOf(error: unknown, url?: string): string {
  const root = rootOf(error)
  // One for each address that was tried.
  if (root instanceof AggregateError) return causeOf(root.errors[0], url)
  if (!(root instanceof Error)) return 'unknown'
  const { name } = root
  // Node names the own end of a connection, also if it has none.
  const message = root.message.replace(' - Local (undefined:undefined)', '')
  const code = 'code' in root && typeof root.code === 'string' && !isIntegrationError(root) ? root.code : name
  const isTold = message.includes(code) || /^(Error|HttpFailure|IntegrationError)$/.test(code)
  const cause = isTold ? message : `${code}: ${message}`
  const host = url === undefined ? '' : new URL(url).host
  return cause.includes(host) ? cause : `${cause} (${host})`
}

/** The host’s own shortage, as the system names it: of descriptors, memory or disk. Nobody else is at fault. */
export function shortageOf(error: unknown): string | undefined {
  const cause = causeOf(error)
  // The words of SQLite.
  if (cause.includes('database or disk is full')) return 'ENOSPC'
  return /\b(EMFILE|ENFILE|ENOMEM|ENOSPC)\b/.exec(cause)?.[1]
}
