/**
 * The provider's error responses: its statuses, codes and words.
 *
 * @see https://clerk.com/docs/guides/development/errors/backend-api
 */
import type { EmulatedRequest, StatusFault } from '@org/core/emulators'
import type * as z from 'zod'

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
  unknownRoute: () =>
    new Refusal(404, reason('resource_not_found', 'URL not found', 'The URL was not found')),
  notFound: (longMessage: string) => new Refusal(404, reason('resource_not_found', 'not found', longMessage)),
  /** 422 for one parameter. */
  parameter: (code: string, parameter: string, message: string, longMessage?: string) =>
    new Refusal(422, parameterReason(code, parameter, message, longMessage)),
  wrongValue: (parameter: string, value: string) => {
    const message = `${value} does not match one of the allowed values for parameter ${parameter}`
    return refusals.parameter('form_param_value_invalid', parameter, 'is invalid', message)
  },
  taken: (parameter: string) => {
    const message = `That ${parameter.replaceAll('_', ' ')} is taken. Please try another.`
    return refusals.parameter('form_identifier_exists', parameter, message)
  },
  /** Parameters that the endpoint does not have. A filter that is ignored would return too many results. */
  unknown: (parameters: readonly string[]) =>
    new Refusal(
      422,
      ...parameters.map((name) => parameterReason('form_param_unknown', name, `${name} is unknown`)),
    ),
} as const

/**
 * Reads a JSON body by a schema.
 *
 * @throws {Refusal} 400, or 422 for the parameters at fault
 */
export function readBody<Schema extends z.ZodType>(
  { headers, text }: EmulatedRequest,
  schema: Schema,
): z.output<Schema> {
  const body = /^application\/json\b/.test(headers.get('content-type') ?? '') ? JSON.parse(text) : undefined
  const parsed = schema.safeParse(body)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  if (issue?.code === 'unrecognized_keys') throw refusals.unknown(issue.keys)
  const [parameter] = issue?.path ?? []
  if (parameter === undefined) {
    const message = 'The request body is invalid. Please consult the API documentation for more information.'
    throw new Refusal(400, reason('request_body_invalid', 'Request body invalid', message))
  }
  const code = Object.hasOwn(body, parameter) ? 'form_param_type_invalid' : 'form_param_missing'
  throw refusals.parameter(code, String(parameter), 'is invalid', issue?.message)
}

/** Reads the token of `Authorization: Bearer …`. */
export function readBearer(headers: Headers): string | undefined {
  return /^Bearer ([^\s]+)$/.exec(headers.get('authorization') ?? '')?.[1]
}

/** Responds with the result as JSON, or with the error response of a thrown {@link Refusal}. */
export function respond(handle: () => unknown): Response {
  try {
    return Response.json(handle())
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    const { status, body } = asFault(error)
    return Response.json(body, { status })
  }
}

/** Makes a fault that responds with a refusal, for `faults.add({ path, ...asFault(refusal) })`. */
export function asFault({ status, errors }: Refusal, headers: Record<string, string> = {}) {
  return { status, headers, body: { errors, clerk_trace_id: '5e1f0c2d4b6a79880f1e2d3c4b5a6978' } }
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

/** The fault of an instance without organizations. */
export function organizationsDisabled(): StatusFault {
  return asFault(new Refusal(403, reason('organization_not_enabled_in_instance', 'access denied')))
}

/** Adds fields that the provider does not document, or that a newer version might add. Clients must ignore them. */
export function withUndocumented<Body extends object>(body: Body) {
  return { ...body, emulated: true, emulated_later: null }
}
