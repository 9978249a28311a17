/**
 * The journal of a batch, as the batch uses it: bounded by the end of the batch, and with checked answers.
 *
 * @module
 */
import { IntegrationError } from '@org/core/errors'
import { type Ending, orEnded } from './ending.ts'
import { isRecord } from './fields.ts'
import type { BatchJournal, MessageRecord } from './journal.ts'

/** After the end of a batch, each write still has so long. */
const GRACE_MS = 1_000

/** The records of one batch. */
export type Records = ReturnType<typeof openRecords>

/** Opens a journal. */
export function openRecords(journal: BatchJournal, { signal }: Ending) {
  async function attempt<Value>(work: () => Value | Promise<Value>, limit: AbortSignal): Promise<Value> {
    try {
      return await orEnded(Promise.resolve().then(work), limit)
    } catch (cause) {
      if (limit.aborted && cause === limit.reason) throw signal.reason
      throw failed(cause)
    }
  }

  async function attemptWithGrace(work: () => void | Promise<void>): Promise<void> {
    const limit = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    const begin = () => {
      timer = setTimeout(() => limit.abort(), GRACE_MS)
    }
    if (signal.aborted) begin()
    else signal.addEventListener('abort', begin)
    await attempt(work, limit.signal).finally(() => {
      clearTimeout(timer)
      signal.removeEventListener('abort', begin)
    })
  }

  return {
    /** How long a call of an earlier attempt took, in milliseconds, if the journal knows. */
    callMs: journal.callMs,
    async read(keys: readonly string[]): Promise<ReadonlyMap<string, MessageRecord>> {
      const found = await attempt(() => journal.read(keys), signal)
      if (!(found instanceof Map)) throw failed(new TypeError('read must return a Map.'))
      const records = new Map<string, MessageRecord>()
      for (const key of keys) {
        const record: unknown = found.get(key)
        // A message whose record is unreadable may have been sent.
        if (record !== undefined && record !== null) records.set(key, isOutcome(record) ? record : 'begun')
      }
      return records
    },
    /**
     * @param durationMs how long the call took that the records are about
     * @throws {IntegrationError} `overloaded` if the journal fails; the reason of the batch’s end if it comes first
     */
    write: (records: ReadonlyMap<string, MessageRecord | undefined>, durationMs?: number) =>
      attemptWithGrace(() => journal.write(records, durationMs)),
  }
}

function failed(cause: unknown): IntegrationError {
  return new IntegrationError('overloaded', 'The journal of the batch failed.', {
    hint: 'Send the batch again with the same journal.',
    retryAfter: 1,
    cause,
  })
}

function isOutcome(record: unknown): record is MessageRecord {
  if (!isRecord(record) || !Array.isArray(record.rejected)) return false
  const isSent = record.status === 'sent' && typeof record.messageId === 'string'
  return isSent || ((record.status === 'failed' || record.status === 'unknown') && isRecord(record.error))
}
