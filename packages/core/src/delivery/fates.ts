/** The fates of the messages that a function sent, for the log and the metrics. */
import * as z from 'zod'
import type { FunctionDefinition } from '../contract/integration.ts'
import type { IntegrationError } from '../errors.ts'

const many = z
  .object({
    sent: z.int(),
    failed: z.int(),
    unknown: z.int(),
    results: z.array(z.object({ messageId: z.string().nullable() })),
  })
  .transform(({ results, ...counts }) => ({
    ...counts,
    ids: results.flatMap((each) => each.messageId ?? []),
  }))

/** Messages by their fate, and the provider's ids of those that were sent. */
export type Fates = z.infer<typeof many>

const none: Fates = { sent: 0, failed: 0, unknown: 0, ids: [] }
const one = z
  .object({ messageId: z.string() })
  .transform(({ messageId }): Fates => ({ ...none, sent: 1, ids: [messageId] }))

/** @returns `undefined` for another function, for a call that will be tried again, and for a batch that did not begin */
export function fatesOf(
  definition: FunctionDefinition | undefined,
  { body, error }: { body?: Record<string, unknown>; error?: IntegrationError | undefined },
): Fates | undefined {
  if (!definition?.sends) return undefined
  if (!error) return (definition.sends === 'one' ? one : many).safeParse(body?.result).data
  if (definition.sends === 'many' || error.retryable) return undefined
  return error.code === 'outcome_unknown' ? { ...none, unknown: 1 } : { ...none, failed: 1 }
}
