/**
 * The journal of a batch: what is known of each message, by its key. A batch that goes on may be cut into other calls,
 * have rows added in front, or have another default sender.
 *
 * @module
 */
import { IntegrationError } from '@org/core/errors'
import { unknownOutcome } from '@org/core/http'
import { failedResult, type PlacedMessage, placeOf } from './batch.ts'
import type { Ending } from './ending.ts'
import { isRecord } from './fields.ts'
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
 * twice. It knows a message by its `key` alone.
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
   */
  write(records: ReadonlyMap<string, MessageRecord | undefined>): void | Promise<void>
}

/** The result of a message that an earlier attempt recorded. */
export function restore(record: MessageRecord, message: PlacedMessage): MessageResult {
  if (record === 'begun') {
    const text = 'An earlier attempt ended while the call with this mail was in flight.'
    return failedResult(message, unknownOutcome(text))
  }
  const { to, recipients } = message
  const rejected = record.rejected.flatMap((position) => recipients[position] ?? [])
  const place = { ...placeOf(message), to, rejected }
  return record.status === 'sent' ? { ...record, ...place } : { ...record, ...place }
}

/** The records of a call’s results. What may be sent again has none, so that the next run sends it. */
export function toRecords(
  results: readonly MessageResult[],
  messages: readonly PlacedMessage[],
): Map<string, MessageRecord | undefined> {
  const records = new Map<string, MessageRecord | undefined>()
  for (const [at, { index: _, key: _key, to: _to, rejected, ...outcome }] of results.entries()) {
    const message = messages[at]
    if (!message) continue
    const positions = rejected.map((address) => message.recipients.indexOf(address))
    records.set(message.key, outcome.error?.retryable ? undefined : { ...outcome, rejected: positions })
  }
  return records
}

/** The records of one batch. */
export type Records = ReturnType<typeof openJournal>

/** Opens a journal: bounded by the end of its batch, and with checked answers. If it fails, it ends the batch. */
export function openJournal(journal: BatchJournal, ending: Ending) {
  /** @throws {IntegrationError} `overloaded` if the journal fails; why the batch has ended if the journal hangs */
  async function attempt<Value>(work: () => Value | Promise<Value>): Promise<Value> {
    try {
      return await ending.run(work)
    } catch (cause) {
      ending.end(new IntegrationError('overloaded', 'The journal of the batch failed.', { cause }))
      throw ending.reason
    }
  }

  return {
    read: (keys: readonly string[]): Promise<ReadonlyMap<string, MessageRecord>> =>
      attempt(async () => {
        const read = await journal.read(keys)
        if (!(read instanceof Map)) throw new TypeError('read must return a Map.')
        // The rows of a table may have numbers as keys.
        const found = new Map(Array.from(read, ([key, record]) => [String(key), record]))
        const records = new Map<string, MessageRecord>()
        for (const key of keys) {
          const record: unknown = found.get(key)
          // A message whose record is unreadable may have been sent.
          if (record !== undefined && record !== null) records.set(key, isOutcome(record) ? record : 'begun')
        }
        return records
      }),
    write: (records: ReadonlyMap<string, MessageRecord | undefined>) => attempt(() => journal.write(records)),
  }
}

/** Whether a record is the outcome of a message. */
export function isOutcome(record: unknown): record is RecordedOutcome {
  if (!isRecord(record) || !Array.isArray(record.rejected)) return false
  const isSent = record.status === 'sent' && typeof record.messageId === 'string'
  return isSent || ((record.status === 'failed' || record.status === 'unknown') && isRecord(record.error))
}
