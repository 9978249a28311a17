import { IntegrationError } from '@org/core/errors'
import { failedResult, type MessageResult, type PlacedMessage } from './batch.ts'

/** The result of one message, without any address. */
export interface RecordedOutcome extends Omit<MessageResult, 'index' | 'to' | 'rejected'> {
  /** Positions of the recipients in to, cc and bcc, counted through. */
  rejected: number[]
}

/** `begun`: the call started, and its results are not recorded. */
export type CallRecord = 'begun' | RecordedOutcome[]

/** Records the calls of a batch, so that the batch can go on after a crash and sends nothing twice. */
export interface BatchJournal {
  /** The record of a call, by its number; `undefined` if the call has not begun. */
  read(call: number): CallRecord | undefined
  /**
   * Resolves when the record is durable.
   *
   * @param record `undefined` deletes the record of a call that was not sent
   */
  write(call: number, record: CallRecord | undefined): Promise<void>
}

/** The results of a call that an earlier attempt made; `undefined` if there was none. */
export function restore(
  record: CallRecord | undefined,
  messages: readonly PlacedMessage[],
): MessageResult[] | undefined {
  if (record === undefined) return undefined
  return messages.map(({ index, to, recipients }, at) => {
    const outcome = record === 'begun' ? undefined : record[at]
    if (!outcome) return failedResult(index, to, interrupted())
    const rejected = outcome.rejected.flatMap((position) => recipients[position] ?? [])
    return { ...outcome, index, to, rejected }
  })
}

/** The record of a call’s results. */
export function toRecord(
  results: readonly MessageResult[],
  messages: readonly PlacedMessage[],
): RecordedOutcome[] {
  return results.map(({ status, messageId, submittedAt, rejected, error }, at) => {
    const recipients = messages[at]?.recipients ?? []
    const positions = rejected.map((address) => recipients.indexOf(address))
    return { status, messageId, submittedAt, rejected: positions, error }
  })
}

function interrupted(): IntegrationError {
  const message = 'An earlier attempt ended while the call with this mail was in flight.'
  return new IntegrationError('outcome_unknown', message, {
    hint: 'Check the provider’s activity before you send the mail again.',
    effect: 'unknown',
  })
}
