import * as z from 'zod'
import type { FunctionDefinition } from '../contract/integration.ts'
import { timeSliced } from '../slices.ts'

/** Entries of a list between two looks at the clock. */
const SLICE = 200

/**
 * Parses the result of a function. A long list at its top, such as the results of a batch, is parsed in slices, and in
 * place: the results of 50,000 messages twice would take 30 MB more.
 *
 * @throws {z.ZodError} if the handler returned something else than its contract says
 */
export async function parseResult(schema: FunctionDefinition['result'], value: unknown): Promise<unknown> {
  if (!(schema instanceof z.ZodObject) || typeof value !== 'object' || value === null)
    return schema.parse(value)
  const fields: Record<string, unknown> = { ...value }
  const lists: Record<string, unknown[]> = {}
  const yieldToLoop = timeSliced()
  for (const [name, field] of Object.entries(schema.shape)) {
    const items = fields[name]
    if (!(field instanceof z.ZodArray) || !Array.isArray(items) || items.length <= SLICE) continue
    const parsed: unknown[] = Object.isFrozen(items) ? [...items] : items
    for (let at = 0; at < items.length; at += SLICE) {
      await yieldToLoop()
      for (const [index, item] of field.parse(items.slice(at, at + SLICE)).entries())
        parsed[at + index] = item
    }
    lists[name] = parsed
    fields[name] = []
  }
  return { ...schema.parse(fields), ...lists }
}
