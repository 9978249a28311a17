/** The kinds of failure. */
export type HttpFailureKind =
  /** A response that is not 2xx. */
  | 'status'
  /** A 2xx response that is not JSON, or that breaks off. */
  | 'malformed'
  /** A response longer than `maxBytes`. */
  | 'too_large'
  /** No response in time. */
  | 'timeout'
  /** The caller's signal ended it. */
  | 'aborted'
  /** No connection, or one that broke. */
  | 'connection'

/** The failure of a call to another host, and whether the call may have taken effect. */
export class HttpFailure extends Error {
  override readonly name = 'HttpFailure'
  readonly kind: HttpFailureKind
  readonly effect: 'none' | 'unknown'
  readonly status: number | undefined
  /** Seconds that the server asked to wait. */
  readonly retryAfter: number | undefined
  // Private, so that printing the error does not show what the provider quotes.
  readonly #body: unknown

  constructor(
    kind: HttpFailureKind,
    message: string,
    facts: {
      effect: 'none' | 'unknown'
      status?: number
      body?: unknown
      retryAfter?: number | undefined
      cause?: unknown
    },
  ) {
    super(message, { cause: facts.cause })
    this.kind = kind
    this.effect = facts.effect
    this.status = facts.status
    this.#body = facts.body
    this.retryAfter = facts.retryAfter
  }

  /** The parsed body of a `status` failure; `undefined` if it is not JSON. */
  get body(): unknown {
    return this.#body
  }
}

/** Codes of errors that arise before the first byte of the request leaves (Node, Bun). */
const NEVER_SENT = new Set([
  // The host's own transport.
  'ERR_NOT_SENT',
  'ECONNREFUSED',
  'ConnectionRefused',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
  'CERT_HAS_EXPIRED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
])

/** Converts a thrown value. */
export function toHttpFailure(
  thrown: unknown,
  status: number | undefined,
  callerSignal: AbortSignal | undefined,
  timedOut: boolean,
): HttpFailure {
  if (thrown instanceof HttpFailure) return thrown
  const cause = rootOf(thrown)
  const effect = neverSent(thrown) ? 'none' : 'unknown'
  if (callerSignal?.aborted) return interrupted(callerSignal, effect)
  if (timedOut) return new HttpFailure('timeout', 'The server did not answer in time.', { effect, cause })
  if (status !== undefined) {
    const message = 'The connection broke in the middle of the response.'
    return new HttpFailure('malformed', message, { effect: effectOf(status), status, cause })
  }
  if (effect === 'none')
    return new HttpFailure('connection', 'The server is unreachable.', { effect: 'none', cause })
  const message = 'The connection broke before a response came.'
  return new HttpFailure('connection', message, { effect: 'unknown', cause })
}

/** The effect of a call whose response is not whole: a redirect or a refusal was decided before any effect. */
export function effectOf(status: number): HttpFailure['effect'] {
  return status >= 300 && status < 500 ? 'none' : 'unknown'
}

/**
 * The innermost cause alone: the errors around it belong to the HTTP client and hold the request with its token,
 * and an error may end up in a log.
 */
function rootOf(error: unknown): unknown {
  let link = error
  for (let depth = 0; link instanceof Error && link.cause instanceof Error && depth < 10; depth += 1)
    link = link.cause
  return link
}

/** The failure of a call that the caller, or the event's deadline, ended. */
export function interrupted(signal: AbortSignal, effect: 'none' | 'unknown'): HttpFailure {
  const cause: unknown = signal.reason
  if (cause instanceof Error && cause.name === 'TimeoutError')
    return new HttpFailure('timeout', 'The deadline passed before a response came.', { effect, cause })
  return new HttpFailure('aborted', 'The caller ended the call.', { effect, cause })
}

/** Whether an error, or one of its causes, arose before the first byte of the request left. */
function neverSent(error: unknown): boolean {
  for (let link = error, depth = 0; link instanceof Error && depth < 10; link = link.cause, depth += 1) {
    // One error for each address that was tried.
    if (link instanceof AggregateError) return link.errors.length > 0 && link.errors.every(neverSent)
    if ('code' in link && NEVER_SENT.has(String(link.code))) return true
  }
  return false
}
