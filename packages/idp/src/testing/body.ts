/** Reads a JSON body by a schema, and refuses an invalid one as the provider does. */
import type { EmulatedRequest } from '@org/core/testing'
import type * as z from 'zod'
import { parameterReason, Refusal, refusals, unknownParameter, type WireError } from './refusals.ts'

/** @throws {Refusal} 415, 400, or 422 with one error for each parameter */
export function readBody<Schema extends z.ZodType>(
  { headers, text }: EmulatedRequest,
  schema: Schema,
): z.output<Schema> {
  const type = headers.get('content-type') ?? ''
  if (!/^application\/json\b/i.test(type)) throw refusals.notJson(type)
  const body = parseObject(text)
  const parsed = schema.safeParse(body)
  if (parsed.success) return parsed.data
  throw new Refusal(422, ...parsed.error.issues.flatMap((issue) => toErrors(issue, body)))
}

function parseObject(text: string): object {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  } catch {
    // Refused below, like JSON that is not an object.
  }
  throw refusals.invalidBody()
}

function toErrors(issue: z.core.$ZodIssue, body: object): WireError[] {
  if (issue.code === 'unrecognized_keys') return issue.keys.map(unknownParameter)
  const parameter = String(issue.path[0])
  if (!Object.hasOwn(body, parameter)) {
    return [parameterReason('form_param_missing', parameter, 'is missing', `${parameter} must be included.`)]
  }
  if (issue.code === 'invalid_type') {
    const message = `\`${parameter}\` must be a \`${issue.expected}\`.`
    return [parameterReason('form_param_type_invalid', parameter, 'is invalid', message)]
  }
  return [parameterReason('form_param_value_invalid', parameter, 'is invalid', `${parameter} is invalid`)]
}
