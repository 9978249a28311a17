/**
 * The provider's error responses: its statuses, codes and words.
 *
 * @see https://clerk.com/docs/guides/development/errors/backend-api
 */
import type { StatusFault } from '@org/core/testing'

/** One error of a response. */
export interface WireError {
  code: string
  message: string
  long_message: string
  meta?: Record<string, unknown>
}

/** The emulator throws a refusal, and {@link respond} turns it into the provider's error response. */
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

/** Makes one error of a response. Without a long message, the short one is used for both. */
export function reason(code: string, message: string, longMessage = message): WireError {
  return { code, message, long_message: longMessage }
}

/** Makes an error that names the parameter at fault. */
export function parameterReason(
  code: string,
  parameter: string,
  message: string,
  longMessage?: string,
): WireError {
  return { ...reason(code, message, longMessage), meta: { param_name: parameter } }
}

/** The refusals that several endpoints share. */
export const refusals = {
  noToken: () => {
    const message = 'Invalid Authorization header format'
    const expected = `${message}. Must be 'Bearer <YOUR_API_KEY>'`
    return new Refusal(401, reason('authorization_header_format_invalid', message, expected))
  },
  unknownSecretKey: () => {
    const message =
      'The provided Clerk Secret Key is invalid. Make sure that your Clerk Secret Key is correct.'
    return new Refusal(401, reason('clerk_key_invalid', message))
  },
  wrongVersion: (version: string | null) => {
    const why = version === null ? 'the header Clerk-API-Version is missing' : `${version} is not supported`
    const message = `Invalid Clerk API version: ${why}`
    return new Refusal(400, reason('api_version_invalid', 'Invalid API version', message))
  },
  unknownRoute: () =>
    new Refusal(404, reason('resource_not_found', 'URL not found', 'The URL was not found')),
  notFound: (longMessage: string) => new Refusal(404, reason('resource_not_found', 'not found', longMessage)),
  notJson: (type: string) => {
    const message = `Content-Type ${type} is unsupported. You should use application/json instead.`
    return new Refusal(415, reason('unsupported_content_type', 'Content-Type is unsupported', message))
  },
  invalidBody: () => {
    const message = 'The request body is invalid. Please consult the API documentation for more information.'
    return new Refusal(400, reason('request_body_invalid', 'Request body invalid', message))
  },
  /** 422 for one parameter. */
  parameter: (code: string, parameter: string, message: string, longMessage?: string) =>
    new Refusal(422, parameterReason(code, parameter, message, longMessage)),
  wrongValue: (parameter: string, value: string) => {
    const message = `${value} does not match one of the allowed values for parameter ${parameter}`
    return refusals.parameter('form_param_value_invalid', parameter, 'is invalid', message)
  },
  wrongFormat: (parameter: string, longMessage: string) =>
    refusals.parameter('form_param_format_invalid', parameter, 'is invalid', longMessage),
  taken: (parameter: string) => {
    const message = `That ${parameter.replaceAll('_', ' ')} is taken. Please try another.`
    return refusals.parameter('form_identifier_exists', parameter, message)
  },
} as const

/** Makes the error of a parameter that the endpoint does not have. */
export function unknownParameter(parameter: string): WireError {
  const message = `${parameter} is not a valid parameter for this request.`
  return parameterReason('form_param_unknown', parameter, 'is unknown', message)
}

/** Responds with the result as JSON, or with the error response of a thrown {@link Refusal}. */
export function respond(handle: () => unknown): Response {
  const traceId = crypto.randomUUID().replaceAll('-', '')
  const headers = { 'x-clerk-trace-id': traceId }
  try {
    return Response.json(handle(), { headers })
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return Response.json(errorBody(error, traceId), { status: error.status, headers })
  }
}

function errorBody({ errors }: Refusal, traceId: string): object {
  return { errors, clerk_trace_id: traceId }
}

/** Makes a fault that responds with a refusal, for `faults.add({ path, ...asFault(refusal) })`. */
export function asFault(refusal: Refusal, headers: Record<string, string> = {}) {
  return { status: refusal.status, headers, body: errorBody(refusal, '5e1f0c2d4b6a79880f1e2d3c4b5a6978') }
}

/**
 * The fault of too many requests.
 *
 * @param retryAfterSeconds the value of `Retry-After`
 */
export function rateLimited(retryAfterSeconds: number): StatusFault {
  const error = reason('too_many_requests', 'Too many requests', 'Too many requests, retry later')
  return asFault(new Refusal(429, error), { 'retry-after': String(retryAfterSeconds) })
}

/** The fault of an internal error of the provider. */
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

/** Fields that the provider does not document. Clients must ignore them. */
const undocumented = { emulated: true, emulated_later: null }

/** Adds fields that a newer version of the provider might add. */
export function withUndocumented<Body extends object>(body: Body): Body & typeof undocumented {
  return { ...body, ...undocumented }
}
