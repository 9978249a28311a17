import * as z from 'zod'
import { breathe } from '../breathe.ts'
import type { FunctionDefinition } from '../contract/integration.ts'
import type { Redactor } from '../redact.ts'

/** Entries of a list between two breaths. */
const MANY = 500

/**
 * Parses the result of a function, and redacts it: a provider may quote a credential in what it says of one message of
 * many. A long list at its top, such as the results of a batch, is parsed in place.
 *
 * @throws {z.ZodError} if the handler returned something else than its contract says
 */
export async function parseResult(
  schema: FunctionDefinition['result'],
  value: unknown,
  redactor: Redactor,
): Promise<unknown> {
  if (!(schema instanceof z.ZodObject) || typeof value !== 'object' || value === null)
    return redactor.data(schema.parse(value))
  const fields: Record<string, unknown> = { ...value }
  const lists: Record<string, unknown[]> = {}
  for (const [name, field] of Object.entries(schema.shape)) {
    const items = fields[name]
    if (!(field instanceof z.ZodArray) || !Array.isArray(items) || items.length <= MANY) continue
    const parsed: unknown[] = Object.isFrozen(items) ? [...items] : items
    for (let at = 0; at < items.length; at += MANY) {
      await breathe()
      for (const [index, item] of redactor.data(field.parse(items.slice(at, at + MANY))).entries())
        parsed[at + index] = item
    }
    lists[name] = parsed
    fields[name] = []
  }
  return { ...redactor.data(schema.parse(fields)), ...lists }
}
