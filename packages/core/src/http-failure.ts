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
  /** The parsed body of a `status` failure; `undefined` where it is not JSON. */
  readonly body: unknown
  /** Seconds that the server asked to wait. */
  readonly retryAfter: number | undefined

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
    this.body = facts.body
    this.retryAfter = facts.retryAfter
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
])

/** Whatever a try threw, as the failure that it means. */
export function toFailure(
  error: unknown,
  status: number | undefined,
  callerSignal: AbortSignal | undefined,
  timer: AbortSignal,
): HttpFailure {
  if (error instanceof HttpFailure) return error
  if (callerSignal?.aborted) return interrupted(callerSignal, 'unknown')
  if (timer.aborted) {
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

/** The failure of a call that the caller, or the deadline behind it, ended. */
export function interrupted(signal: AbortSignal, sent: 'no' | 'unknown'): HttpFailure {
  const cause: unknown = signal.reason
  const timedOut = cause instanceof Error && cause.name === 'TimeoutError'
  return timedOut
    ? new HttpFailure('timeout', 'The deadline passed before an answer came.', { sent, cause })
    : new HttpFailure('aborted', 'The caller ended the call.', { sent, cause })
}

function neverConnected(error: unknown): boolean {
  for (let link = error, depth = 0; link instanceof Error && depth < 5; link = link.cause, depth += 1) {
    if ('code' in link && typeof link.code === 'string' && NEVER_CONNECTED.has(link.code)) return true
    if (link instanceof AggregateError) return link.errors.length > 0 && link.errors.every(neverConnected)
  }
  return false
}
