/**
 * The records of a delivery store: one signed text for each subject, which changes as a whole.
 *
 * @module
 */

import { toBase64 } from '../../base64.ts'
import type { Json } from '../../contract/handler-context.ts'
import { sha256 } from '../../cryptography.ts'
import { IntegrationError } from '../../errors.ts'
import { createRecordKeys } from '../keys.ts'
import type { RecordedResponse } from '../store.ts'
import { MARK_LENGTH } from './format.ts'

/** A place for texts, of which `createDeliveryStore` makes a delivery store. */
export interface RecordStorage {
  /** Reads a text, and the time in milliseconds since 1970. */
  read(key: string): Promise<{ text: string | undefined; time: number }>
  /**
   * Replaces a text if nobody has replaced it since it was read.
   *
   * @param mark the first 24 characters of the text that was read, which no other text has; empty if there was none
   * @returns whether it was replaced
   */
  swap(key: string, mark: string, after: StoredText): Promise<boolean>
  /** The time, as far as it is known without asking. */
  now(): number
  /** @throws if it is unreachable, or can’t write */
  probe(): Promise<void>
}

/** A text to keep. */
export interface StoredText {
  text: string
  /** How long it is kept, in milliseconds. */
  keepMs: number
  /** Whether a storage without room may remove it earlier. */
  isDisposable: boolean
}

/** The record of a subject. Times are in milliseconds since 1970. */
export interface DeliveryRecord {
  /** Counts the claims. */
  fence: number
  /** Present during a claim. */
  owner?: string | undefined
  /** The end of the lease. */
  until?: number | undefined
  claimed: number
  expires: number
  /** The delivery of the last claim. */
  delivery?: string | undefined
  /** Absent after a release: then the delivery may come back with another body. */
  digest?: string | undefined
  steps?: Record<string, Json> | undefined
  /** The response to `delivery`. */
  response?: RecordedResponse | undefined
  /** When the response expires, if the record is kept for longer. */
  responseExpires?: number | undefined
}

/** The result of an operation, and the record to write if it changes. */
export interface Change<Result> {
  result: Result
  record?: DeliveryRecord
}

/** Decides what becomes of a record at a time in milliseconds since 1970. */
type Decide<Result> = (
  record: DeliveryRecord | undefined,
  time: number,
) => Change<Result> | Promise<Change<Result>>

const encoder = new TextEncoder()
/** Each failed attempt means that another one succeeded. */
const MOST_ATTEMPTS = 100
/** Claims that never end leave their texts in memory. */
const MOST_WRITTEN = 1_000
/** A shorter hash saves space, and nobody can make another subject with the same one. */
const HASH_BYTES = 12

/** Makes the records of a storage, signed with the first of the keys. */
export function createRecords(storage: RecordStorage, recordKeys: readonly string[] | undefined) {
  const { sign, isSigned } = createRecordKeys(recordKeys)
  /** The texts that were written last under the claims of this process, which need not be read again. */
  const written = new Map<string, { key: string; text: string }>()

  async function find(subject: string): Promise<{ key: string; text: string; time: number }> {
    const key = toBase64((await sha256(encoder.encode(subject))).subarray(0, HASH_BYTES))
    const { text, time } = await storage.read(key)
    if (text !== undefined && !(await isSigned(markOf(text), subject, jsonOf(text)))) throw notSigned(subject)
    return { key, text: text ?? '', time }
  }

  function remember(subject: string, key: string, text: string, { owner }: DeliveryRecord): void {
    written.delete(subject)
    if (owner === undefined) return
    written.set(subject, { key, text })
    const [oldest] = written.keys()
    if (oldest !== undefined && written.size > MOST_WRITTEN) written.delete(oldest)
  }

  return {
    /**
     * Reads a record.
     *
     * @throws {IntegrationError} `internal_error` if no host with one of the keys wrote it
     */
    async read(subject: string) {
      const { text, time } = await find(subject)
      return { ...parse(text, time), time }
    },

    /**
     * Changes a record, and decides again if somebody else changed it meanwhile.
     *
     * @param by `owner`: it knows the record as this process wrote it last
     * @throws {IntegrationError} as `read` does
     */
    async change<Result>(subject: string, decide: Decide<Result>, by?: 'owner'): Promise<Result> {
      const known = by === 'owner' ? written.get(subject) : undefined
      let found = known ? { ...known, time: storage.now() } : await find(subject)
      for (let attempts = 0; attempts < MOST_ATTEMPTS; attempts += 1) {
        const { key, text: before, time } = found
        const { record: last, version } = parse(before, time)
        const { record, result } = await decide(last, time)
        if (!record) return result
        // The version makes every text, and so its signature, another one.
        const json = JSON.stringify({ ...record, version: version + 1 })
        const text = (await sign(subject, json)) + json
        const hasSteps = Object.values(record.steps ?? {}).some((step) => step !== null)
        const isDisposable = record.owner === undefined && !hasSteps
        const keepMs = record.expires - time
        if (await storage.swap(key, markOf(before), { text, keepMs, isDisposable })) {
          remember(subject, key, text, record)
          return result
        }
        found = await find(subject)
      }
      throw new Error(`Others changed the record of ${subject} during each of ${MOST_ATTEMPTS} attempts.`)
    },
  }
}

/** Whether a claim lasts. */
export function isClaimed({ owner, until = 0 }: DeliveryRecord, time: number): boolean {
  return owner !== undefined && until > time
}

const markOf = (text: string) => text.slice(0, MARK_LENGTH)
const jsonOf = (text: string) => text.slice(MARK_LENGTH)

/** @returns the record, unless it has expired, and its version */
function parse(text: string, time: number): { record?: DeliveryRecord; version: number } {
  if (text === '') return { version: 0 }
  const { version, ...record }: DeliveryRecord & { version: number } = JSON.parse(jsonOf(text))
  return record.expires > time || isClaimed(record, time) ? { record, version } : { version }
}

function notSigned(subject: string): IntegrationError {
  const message = `The record of ${subject} in the delivery store is not signed by this host.`
  return new IntegrationError('internal_error', `${message} Nothing is done with it.`, {
    hint: 'Somebody else changed it, or a key of the host was removed: docs/security.md.',
    // The log has causes only.
    cause: new Error(message),
  })
}
