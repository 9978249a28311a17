/**
 * What an event is answered with, and the `Response` that carries it (contract §2).
 *
 * @module
 */
import { type IntegrationError, toIntegrationError } from './errors.ts'
import { toProblem } from './problem.ts'
import { createRedactor, type Redactor } from './redact.ts'

/** The body of an answer. */
export type AnswerBody = Record<string, unknown>

/** An answer before it becomes a `Response`. */
export interface Answer {
  status: number
  body: AnswerBody
  /** Why it is not a success. */
  error?: IntegrationError | undefined
  /** Whether it was recorded by an earlier delivery. */
  replayed?: boolean | undefined
}

/** The answer to an event that nothing is done for. */
export function ignored(reason: string): AnswerBody {
  return { status: 'ignored', reason }
}

/** The answer to a failure. */
export function failed(error: unknown, redactor: Redactor): Answer {
  const known = toIntegrationError(error)
  return { status: known.status, body: { ...toProblem(known, redactor) }, error: known }
}

/** What every answer says to a browser, which has no business here: run, frame, guess, keep or pass on nothing. */
const FOR_BROWSERS = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
}

/** The answer as a `Response`. */
export function respond({ status, body, error, replayed }: Answer): Response {
  const headers: Record<string, string> = {
    'content-type': status < 400 ? 'application/json' : 'application/problem+json',
    ...FOR_BROWSERS,
  }
  // With what is final it would ask for a repetition all the same.
  if (error?.retryable && error.retryAfter !== undefined)
    headers['retry-after'] = String(Math.ceil(error.retryAfter))
  if (error?.code === 'method_not_allowed') headers.allow = 'POST'
  if (replayed) headers['idempotency-replayed'] = 'true'
  return new Response(JSON.stringify(body), { status, headers })
}

/**
 * A failure as a `Response`, for whatever a host refuses before it is an event.
 *
 * @example
 * ```ts
 * app.notFound(() => toProblemResponse(new IntegrationError('not_found', 'There is nothing here.')))
 * ```
 */
export function toProblemResponse(error: unknown): Response {
  return respond(failed(error, createRedactor()))
}
