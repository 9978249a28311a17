/** What became of the messages that a function sent, for the log and the metrics. */
import * as z from 'zod'
import type { FunctionDefinition } from '../contract/integration.ts'
import type { EventResponse } from '../delivery/response.ts'

/** Messages by their fate. */
export interface Fates {
  sent: number
  failed: number
  /** They may have been sent. */
  unknown: number
  /** The provider's ids of those that were sent. */
  ids: string[]
}

const none: Fates = { sent: 0, failed: 0, unknown: 0, ids: [] }
const id = z.object({ messageId: z.string().nullable() })
const one = id.transform(({ messageId }) => ({ ...none, sent: 1, ids: messageId ? [messageId] : [] }))
const many = z
  .object({ sent: z.int(), failed: z.int(), unknown: z.int(), results: z.array(id) })
  .transform(({ results, ...counts }) => ({
    ...counts,
    ids: results.flatMap((each) => each.messageId ?? []),
  }))

/** @returns `undefined` for another function, for a call that will be tried again, and for a batch that did not begin */
export function fatesOf(
  definition: FunctionDefinition | undefined,
  { body, error }: EventResponse,
): Fates | undefined {
  if (!definition?.sends) return undefined
  if (!error) return (definition.sends === 'one' ? one : many).safeParse(body?.result).data
  if (definition.sends === 'many' || error.retryable) return undefined
  return error.code === 'outcome_unknown' ? { ...none, unknown: 1 } : { ...none, failed: 1 }
}
