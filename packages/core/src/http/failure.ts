/**
 * How a call to another host fails, and what that says about whether it took effect.
 *
 * @module
 */

/** What can go wrong between two hosts. */
export type HttpFailureKind =
  /** An answer that is not 2xx. */
  | 'status'
  /** A 2xx answer that is not JSON, or that breaks off. */
  | 'malformed'
  /** An answer longer than `maxBytes`. */
  | 'too_large'
  /** No answer in time. */
  | 'timeout'
  /** The caller's signal ended it. */
  | 'aborted'
  /** No connection, or one that broke. */
  | 'connection'

/** Why a call failed, and whether it may have taken effect all the same. */
export class HttpFailure extends Error {
  override readonly name = 'HttpFailure'
  readonly kind: HttpFailureKind
  readonly sent: 'no' | 'unknown'
  readonly status: number | undefined
  /** Seconds that the server asked to wait. */
  readonly retryAfter: number | undefined
  // Private, so that printing the error does not show what the provider quotes.
  readonly #body: unknown

  constructor(
    kind: HttpFailureKind,
    message: string,
    facts: {
      sent: 'no' | 'unknown'
      status?: number
      body?: unknown
      retryAfter?: number | undefined
      cause?: unknown
    },
  ) {
    super(message, { cause: facts.cause })
    this.kind = kind
    this.sent = facts.sent
    this.status = facts.status
    this.#body = facts.body
    this.retryAfter = facts.retryAfter
  }

  /** The parsed body of a `status` failure; `undefined` where it is not JSON. */
  get body(): unknown {
    return this.#body
  }
}

/** Codes of errors that arise before a byte of the request has left (Node, Bun). */
const NEVER_CONNECTED = new Set([
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

/** Whatever a try threw, as the failure that it means. */
export function toFailure(
  thrown: unknown,
  status: number | undefined,
  callerSignal: AbortSignal | undefined,
  timedOut: boolean,
): HttpFailure {
  if (thrown instanceof HttpFailure) return thrown
  const error = rootOf(thrown)
  if (callerSignal?.aborted) return interrupted(callerSignal, 'unknown')
  if (timedOut) {
    return new HttpFailure('timeout', 'The server did not answer in time.', { sent: 'unknown', cause: error })
  }
  if (status !== undefined) {
    return new HttpFailure('malformed', 'The connection broke in the middle of the answer.', {
      sent: status >= 300 && status < 500 ? 'no' : 'unknown',
      status,
      cause: error,
    })
  }
  const sent = neverConnected(error) ? 'no' : 'unknown'
  const message =
    sent === 'no' ? 'The server could not be reached.' : 'The connection broke before an answer came.'
  return new HttpFailure('connection', message, { sent, cause: error })
}

/**
 * The innermost cause alone: around it stand errors of the HTTP client that hold the request with its token,
 * and an error may end up in a log.
 */
function rootOf(error: unknown): unknown {
  let link = error
  for (let depth = 0; link instanceof Error && link.cause instanceof Error && depth < 10; depth += 1)
    link = link.cause
  return link
}

/** The failure of a call that the caller, or the deadline behind it, ended. */
export function interrupted(signal: AbortSignal, sent: 'no' | 'unknown'): HttpFailure {
  const cause: unknown = signal.reason
  const timedOut = cause instanceof Error && cause.name === 'TimeoutError'
  return timedOut
    ? new HttpFailure('timeout', 'The deadline passed before an answer came.', { sent, cause })
    : new HttpFailure('aborted', 'The caller ended the call.', { sent, cause })
}

function neverConnected(error: unknown): boolean {
  // One error for each address that was tried.
  if (error instanceof AggregateError) return error.errors.length > 0 && error.errors.every(neverConnected)
  return error instanceof Error && 'code' in error && NEVER_CONNECTED.has(String(error.code))
}
