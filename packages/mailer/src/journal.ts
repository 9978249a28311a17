/**
 * What was done of a batch, written down call by call, so that it can go on after a crash without sending
 * anything twice.
 *
 * @module
 */
import { IntegrationError } from '@org/core/errors'
import { failedResult, type MessageResult, type PlacedMessage } from './batch.ts'

/** What came of one message, without any address: recipients are known by their place in the message. */
export interface RecordedOutcome {
  status: MessageResult['status']
  messageId: string | null
  submittedAt: string | null
  /** Places in to, cc and bcc, counted through. */
  rejected: number[]
  error: MessageResult['error']
}

/** `begun`: it left, and no answer was written down. */
export type CallRecord = 'begun' | RecordedOutcome[]

/** Where the calls of a batch are written down. Each write must last before it resolves. */
export interface BatchJournal {
  /** What is known of a call, by its number; `undefined` where it has not begun. */
  read(call: number): CallRecord | undefined
  /** `undefined` takes a call back that certainly did not happen. */
  write(call: number, record: CallRecord | undefined): Promise<void>
}

/** The results of a call that an earlier try made; `undefined` where none did. */
export function recall(
  record: CallRecord | undefined,
  messages: readonly PlacedMessage[],
): MessageResult[] | undefined {
  if (record === undefined) return undefined
  return messages.map((message, at) => {
    const outcome = record === 'begun' ? undefined : record[at]
    if (!outcome) return failedResult(message.index, message.to, interrupted())
    const { index, to, recipients } = message
    return { ...outcome, index, to, rejected: outcome.rejected.flatMap((place) => recipients[place] ?? []) }
  })
}

/** Results as they are written down. */
export function toRecord(
  results: readonly MessageResult[],
  messages: readonly PlacedMessage[],
): RecordedOutcome[] {
  return results.map(({ status, messageId, submittedAt, rejected, error }, at) => {
    const recipients = messages[at]?.recipients ?? []
    return {
      status,
      messageId,
      submittedAt,
      error,
      rejected: rejected.map((address) => recipients.indexOf(address)),
    }
  })
}

function interrupted(): IntegrationError {
  return new IntegrationError(
    'outcome_unknown',
    'An earlier try died while the call with this mail was under way.',
    {
      hint: 'Look at the provider before doing it again.',
      sent: 'unknown',
    },
  )
}
