/**
 * What an event is answered with, and the `Response` that carries it (contract §2).
 *
 * @module
 */
import { type IntegrationError, toIntegrationError } from './errors.ts'
import { toProblem } from './problem.ts'
import type { Redactor } from './redact.ts'

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

/** The answer as a `Response`. */
export function respond({ status, body, error, replayed }: Answer): Response {
  const headers = new Headers({
    'content-type': status < 400 ? 'application/json' : 'application/problem+json',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  })
  // With what is final it would ask for a repetition all the same.
  if (error?.retryable && error.retryAfter !== undefined)
    headers.set('retry-after', String(Math.ceil(error.retryAfter)))
  if (error?.code === 'method_not_allowed') headers.set('allow', 'POST')
  if (replayed) headers.set('idempotency-replayed', 'true')
  return new Response(JSON.stringify(body), { status, headers })
}
