import type { PlatformEvent } from '../contract/event.ts'
import type { DeploymentStatus } from '../contract/platform.ts'
import { type IntegrationError, toIntegrationError } from '../errors.ts'
import { toProblem } from '../problem.ts'
import { createRedactor, type Redactor } from '../redact.ts'

export type ResponseBody = Record<string, unknown>

/** The messages that an event sent by their fate, and each with the provider's id if it was sent. */
export interface Fates {
  sent: number
  failed: number
  unknown: number
  messages: Message[]
}

interface Message {
  messageId: string | null
  status: 'sent' | 'failed' | 'unknown'
  error?: { code: string } | null | undefined
}

/** The response to an event (contract §2), before it becomes a `Response`. Either `body` or `json` is set. */
export interface EventResponse {
  status: number
  body?: ResponseBody
  /** The body as text, if it has been serialised already. */
  json?: string
  /** Set for a failure. */
  error?: IntegrationError | undefined
  /** Whether it was recorded by an earlier delivery. */
  replayed?: boolean
  /** The fates of the messages that the event sent. */
  fates?: Fates | undefined
  /** The last status of the deployment that was reported. */
  deploymentStatus?: DeploymentStatus | undefined
}

/** The response to an event that the host does not act on. */
export function ignored(reason: string): ResponseBody {
  return { status: 'ignored', reason }
}

/** The function and the arguments that the sender of an event chose, and so may read. */
export const sentIn = (event: PlatformEvent | undefined) =>
  event?.name === 'FUNCTION_CALL' ? event.functionCall : undefined

export function toFailure(error: unknown, redactor: Redactor, event?: PlatformEvent): EventResponse {
  const known = toIntegrationError(error)
  const body = toProblem(known, redactor.sparing(sentIn(event)))
  return { status: body.status, body: { ...body }, error: known }
}

/** A browser must not run, frame, guess, keep or pass on anything. */
const FOR_BROWSERS = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
}

export function toResponse({ status, body = {}, json, error, replayed }: EventResponse): Response {
  const headers: Record<string, string> = {
    'content-type': status < 400 ? 'application/json' : 'application/problem+json',
    ...FOR_BROWSERS,
  }
  // On a final response, Retry-After would still invite a retry.
  if (error?.retryable && error.retryAfter !== undefined)
    headers['retry-after'] = String(Math.ceil(error.retryAfter))
  if (error?.code === 'method_not_allowed') headers.allow = 'POST'
  if (replayed) headers['idempotency-replayed'] = 'true'
  return new Response(json ?? JSON.stringify(body), { status, headers })
}

/** A failure as a `Response`, for requests that a host refuses before they become events. */
export function toProblemResponse(error: unknown): Response {
  return toResponse(toFailure(error, createRedactor()))
}
