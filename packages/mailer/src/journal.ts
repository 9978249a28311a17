/**
 * The journal of a batch: what is known of each message, by the message itself. A batch that goes on may be cut
 * into other calls, have rows added in front, or have another default sender.
 *
 * @module
 */
import { IntegrationError } from '@org/core/errors'
import { failedResult, type PlacedMessage } from './batch.ts'
import type { MessageResult, SentResult, UnsentResult } from './result.ts'

/** The result of one message, without any address. */
export type RecordedOutcome = (
  | Pick<SentResult, 'status' | 'messageId' | 'submittedAt' | 'error'>
  | Pick<UnsentResult, 'status' | 'messageId' | 'submittedAt' | 'error'>
) & {
  /** Positions of the recipients in to, cc and bcc, counted through. */
  rejected: number[]
}

/** `begun`: the call with the message started, and its outcome is not recorded. */
export type MessageRecord = 'begun' | RecordedOutcome

/**
 * Records the messages of a batch, so that the batch can go on after a crash or a time limit and sends nothing
 * twice. A key is a fingerprint of the message; the same message a second time has a key of its own.
 */
export interface BatchJournal {
  /**
   * Reads the records of up to 500 messages.
   *
   * @returns the records by key, without those that do not exist
   */
  read(
    keys: readonly string[],
  ): ReadonlyMap<string, MessageRecord> | Promise<ReadonlyMap<string, MessageRecord>>
  /**
   * Writes the records of one call, all or none. Resolves when they are durable.
   *
   * @param records by key; `undefined` deletes the record of a message that was not sent
   * @param durationMs how long the call took, if it is about its outcome
   */
  write(records: ReadonlyMap<string, MessageRecord | undefined>, durationMs?: number): void | Promise<void>
  /**
   * How long a call of an earlier attempt took, in milliseconds. A batch that knows begins with several calls at a
   * time, and with none that would take longer than what is left.
   */
  readonly callMs?: number | undefined
}

/** The result of a message that an earlier attempt recorded. */
export function restore(record: MessageRecord, { index, to, recipients }: PlacedMessage): MessageResult {
  if (record === 'begun') return failedResult(index, to, interrupted())
  const rejected = record.rejected.flatMap((position) => recipients[position] ?? [])
  return record.status === 'sent' ? { ...record, index, to, rejected } : { ...record, index, to, rejected }
}

/** The records of a call’s results. */
export function toRecords(
  results: readonly MessageResult[],
  messages: readonly PlacedMessage[],
): Map<string, MessageRecord> {
  const records = new Map<string, MessageRecord>()
  for (const [at, { index: _, to: _to, rejected, ...outcome }] of results.entries()) {
    const message = messages[at]
    if (!message) continue
    const positions = rejected.map((address) => message.recipients.indexOf(address))
    records.set(message.key, { ...outcome, rejected: positions })
  }
  return records
}

function interrupted(): IntegrationError {
  const message = 'An earlier attempt ended while the call with this mail was in flight.'
  return new IntegrationError('outcome_unknown', message, {
    hint: 'Check the provider’s activity before you send the mail again.',
    effect: 'unknown',
  })
}
