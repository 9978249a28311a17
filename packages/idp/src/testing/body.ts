/**
 * Reads a JSON body by a schema, and refuses what does not fit as the provider does.
 *
 * @module
 */
import type { EmulatedRequest } from '@org/core/testing'
import type * as z from 'zod'
import { parameterReason, Refusal, refusals, type WireError } from './refusals.ts'

/** @throws {Refusal} 415, 400, or 422 with one reason per parameter */
export function readBody<Schema extends z.ZodType>(
  { headers, text }: EmulatedRequest,
  schema: Schema,
): z.output<Schema> {
  const type = headers.get('content-type') ?? ''
  if (!/^application\/json\b/i.test(type)) throw refusals.notJson(type)
  const body = parseObject(text)
  const parsed = schema.safeParse(body)
  if (parsed.success) return parsed.data
  throw new Refusal(422, ...parsed.error.issues.flatMap((issue) => toReasons(issue, body)))
}

function parseObject(text: string): object {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  } catch {
    // Refused below, with everything else that is not an object.
  }
  throw refusals.invalidBody()
}

function toReasons(issue: z.core.$ZodIssue, body: object): WireError[] {
  if (issue.code === 'unrecognized_keys') return issue.keys.map(unknownParameter)
  const parameter = String(issue.path[0])
  if (!Object.hasOwn(body, parameter)) {
    return [parameterReason('form_param_missing', parameter, 'is missing', `${parameter} must be included.`)]
  }
  if (issue.code === 'invalid_type') {
    const message = `\`${parameter}\` must be a \`${issue.expected}\`.`
    return [parameterReason('form_param_type_invalid', parameter, 'is invalid', message)]
  }
  if (issue.code === 'invalid_format' && issue.format === 'datetime') {
    const message = `${parameter} must contain a datetime specified in RFC3339 format (e.g. \`2022-10-20T10:00:27.645Z\`).`
    return [parameterReason('form_param_invalid_time', parameter, 'invalid format', message)]
  }
  return [parameterReason('form_param_value_invalid', parameter, 'is invalid', `${parameter} is invalid`)]
}

/** The reason of a parameter that the endpoint does not take. */
export function unknownParameter(parameter: string): WireError {
  const message = `${parameter} is not a valid parameter for this request.`
  return parameterReason('form_param_unknown', parameter, 'is unknown', message)
}
