/**
 * The provider's refusals: its statuses and codes, in its words.
 *
 * @module
 * @see https://clerk.com/docs/guides/development/errors/backend-api
 */
import type { StatusFault } from '@org/core/testing'

/** One reason in a refusal. */
export interface WireError {
  code: string
  message: string
  long_message: string
  meta?: Record<string, unknown>
}

/** Thrown where the provider refuses; {@link answer} makes the response of it. */
export class Refusal extends Error {
  readonly status: number
  readonly errors: readonly WireError[]

  constructor(status: number, ...errors: WireError[]) {
    super(errors.map(({ long_message }) => long_message).join(' '))
    this.name = 'Refusal'
    this.status = status
    this.errors = errors
  }
}

/** Makes one reason. Without a long message, the short one stands for both. */
export function reason(code: string, message: string, longMessage = message): WireError {
  return { code, message, long_message: longMessage }
}

/** Makes one reason that names the parameter at fault. */
export function parameterReason(
  code: string,
  parameter: string,
  message: string,
  longMessage?: string,
): WireError {
  return { ...reason(code, message, longMessage), meta: { param_name: parameter } }
}

/** What is refused in every part of the provider's API. */
export const refusals = {
  noToken: () => {
    const message = 'Invalid Authorization header format'
    const wanted = `${message}. Must be 'Bearer <YOUR_API_KEY>'`
    return new Refusal(401, reason('authorization_header_format_invalid', message, wanted))
  },
  unknownSecretKey: () => {
    const message =
      'The provided Clerk Secret Key is invalid. Make sure that your Clerk Secret Key is correct.'
    return new Refusal(401, reason('clerk_key_invalid', message))
  },
  wrongVersion: (why: string) => {
    const message = `Invalid Clerk API version: ${why}`
    return new Refusal(400, reason('api_version_invalid', 'Invalid API version', message))
  },
  noSuchRoute: () => {
    return new Refusal(404, reason('resource_not_found', 'URL not found', 'The URL was not found'))
  },
  notFound: (longMessage: string) => {
    return new Refusal(404, reason('resource_not_found', 'not found', longMessage))
  },
  notJson: (type: string) => {
    const message = `Content-Type ${type} is unsupported. You should use application/json instead.`
    return new Refusal(415, reason('unsupported_content_type', 'Content-Type is unsupported', message))
  },
  invalidBody: () => {
    const message = 'The request body is invalid. Please consult the API documentation for more information.'
    return new Refusal(400, reason('request_body_invalid', 'Request body invalid', message))
  },
  wrongValue: (parameter: string, value: string) => {
    const message = `${value} does not match one of the allowed values for parameter ${parameter}`
    return new Refusal(422, parameterReason('form_param_value_invalid', parameter, 'is invalid', message))
  },
  wrongFormat: (parameter: string, longMessage: string) => {
    return new Refusal(
      422,
      parameterReason('form_param_format_invalid', parameter, 'is invalid', longMessage),
    )
  },
  taken: (parameter: string) => {
    const message = `That ${parameter.replaceAll('_', ' ')} is taken. Please try another.`
    return new Refusal(422, parameterReason('form_identifier_exists', parameter, message))
  },
  missingResource: (parameter: string) => {
    const message = `The resource associated with the supplied ${parameter} was not found.`
    return new Refusal(422, parameterReason('form_resource_not_found', parameter, 'is missing', message))
  },
  notTogether: (parameter: string, other: string) => {
    const message = `\`${parameter}\` isn't allowed when \`${other}\` is present.`
    return new Refusal(
      422,
      parameterReason('form_conditional_param_disallowed', parameter, 'is not allowed', message),
    )
  },
} as const

/** Answers with what is returned, and with a thrown {@link Refusal} as the provider does. */
export function answer(act: () => unknown): Response {
  const traceId = crypto.randomUUID().replaceAll('-', '')
  const headers = { 'x-clerk-trace-id': traceId }
  try {
    return Response.json(act(), { headers })
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return Response.json(errorBody(error, traceId), { status: error.status, headers })
  }
}

function errorBody({ errors }: Refusal, traceId: string): object {
  return { errors, clerk_trace_id: traceId }
}

/** A fault that answers with a refusal, for `faults.add({ path, ...asFault(refusal) })`. */
export function asFault(refusal: Refusal, headers: Record<string, string> = {}): StatusFault {
  return { status: refusal.status, headers, body: errorBody(refusal, '5e1f0c2d4b6a79880f1e2d3c4b5a6978') }
}

/**
 * The fault of too many requests.
 *
 * @param retryAfterSeconds is sent as `Retry-After`
 */
export function rateLimited(retryAfterSeconds: number): StatusFault {
  const refusal = new Refusal(
    429,
    reason('too_many_requests', 'Too many requests', 'Too many requests, retry later'),
  )
  return asFault(refusal, { 'retry-after': String(retryAfterSeconds) })
}

/** The fault of an error on the provider's side. */
export function internalError(): StatusFault {
  const message =
    "There was an internal error on our servers. We've been notified and are working on fixing it."
  return asFault(
    new Refusal(500, reason('internal_clerk_error', 'Oops, an unexpected error occurred', message)),
  )
}

/** The fault of maintenance. */
export function underMaintenance(): StatusFault {
  const message =
    'We are currently undergoing maintenance and only essential operations are permitted. We will be back shortly.'
  return asFault(new Refusal(503, reason('maintenance_mode', 'System under maintenance', message)))
}

/** Fields that no document names: clients must not mind them. */
const undocumented = { emulated: true, emulated_later: null }

/** Adds what a newer version of the provider might add. */
export function withUndocumented<Body extends object>(body: Body): Body & typeof undocumented {
  return { ...body, ...undocumented }
}
