/**
 * The rules of claims, the same for every store: `createDeliveryStore` makes one of a place for texts. A subject has one
 * signed text, which changes as a whole.
 *
 * @module
 */
import { toBase64 } from '../../base64.ts'
import type { Json } from '../../contract/handler-context.ts'
import { sha256 } from '../../cryptography.ts'
import { IntegrationError } from '../../errors.ts'
import { createRecordKeys } from '../encryption.ts'
import type { ClaimResult, DeliveryStore, Lease, RecordedResponse } from '../store.ts'
import { MARK_LENGTH } from './format.ts'

/** A place for texts, of which `createDeliveryStore` makes a delivery store. */
export interface RecordStorage {
  /** Reads a text, and the time in milliseconds since 1970. */
  read(key: string): Promise<{ text: string | undefined; time: number }>
  /**
   * Replaces a text if nobody has replaced it since it was read.
   *
   * @param mark the first 24 characters of the text that was read, which no other text has; empty if there was none
   * @param keepMs how long the new text is kept, in milliseconds
   * @returns whether it was replaced
   */
  swap(key: string, mark: string, text: string, keepMs: number): Promise<boolean>
  /** The time, as far as it is known without asking. */
  now(): number
  /** @throws if it is unreachable, or can’t write */
  probe(): Promise<void>
}

/** The record of a subject. Times are in milliseconds since 1970. */
interface DeliveryRecord {
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

/** The result of an operation, the record to write if it changes, and the lease under which it is written next. */
interface Change<Result> {
  result: Result
  record?: DeliveryRecord
  lease?: Lease
}

/** Decides what becomes of a record at a time in milliseconds since 1970. */
type Decide<Result> = (
  record: DeliveryRecord | undefined,
  time: number,
) => Change<Result> | Promise<Change<Result>>

const encoder = new TextEncoder()
/** Responses and tombstones are kept for seven days, and unfinished records after their last claims. In milliseconds. */
const KEEP_MS = 7 * 24 * 60 * 60 * 1000
/** The record of a living deployment, and of what it reserved, is kept until it is deleted: for a century at most. */
const KEEP_LIVING_MS = 100 * 365 * 24 * 60 * 60 * 1000
/** Each failed attempt means that another one succeeded. */
const MOST_ATTEMPTS = 100
/** A shorter hash saves space, and nobody can make another subject with the same one. */
const HASH_BYTES = 12

/**
 * Makes a delivery store.
 *
 * @param storage keeps one text for each subject
 * @param recordKeys sign the records: the first one is used, and records of all are recognised. Without any, a
 * writer of the storage can change records unseen.
 */
export function createDeliveryStore(storage: RecordStorage, recordKeys?: readonly string[]): DeliveryStore {
  const { sign, isSigned } = createRecordKeys(recordKeys)
  /** The texts that were written last under the claims of this process, which need not be read again. */
  const written = new WeakMap<Lease, { key: string; text: string }>()

  /** @throws {IntegrationError} `internal_error` if no host with one of the keys wrote it */
  async function find(subject: string): Promise<{ key: string; text: string; time: number }> {
    const key = toBase64((await sha256(encoder.encode(subject))).subarray(0, HASH_BYTES))
    const { text, time } = await storage.read(key)
    if (text === undefined) return { key, text: '', time }
    if (await isSigned(markOf(text), subject, jsonOf(text))) return { key, text, time }
    const message = `The record of ${subject} in the delivery store is not signed by this host.`
    throw new IntegrationError('internal_error', `${message} Nothing is done with it.`, {
      hint: 'Somebody else changed it, or a key of the host was removed: docs/security.md.',
      // The log has causes only.
      cause: new Error(message),
    })
  }

  /** Changes a record, and decides again if somebody else changed it meanwhile. */
  async function change<Result>(subject: string, decide: Decide<Result>, by?: Lease): Promise<Result> {
    const known = by && written.get(by)
    let found = known ? { ...known, time: storage.now() } : await find(subject)
    for (let attempts = 0; attempts < MOST_ATTEMPTS; attempts += 1) {
      const { key, text: before, time } = found
      const { record: last, version } = parse(before, time)
      const { record, result, lease = by } = await decide(last, time)
      if (!record) return result
      // The version makes every text, and so its signature, another one.
      const json = JSON.stringify({ ...record, version: version + 1 })
      const text = (await sign(subject, json)) + json
      if (await storage.swap(key, markOf(before), text, record.expires - time)) {
        if (lease) written.set(lease, { key, text })
        return result
      }
      found = await find(subject)
    }
    throw new Error(`Others changed the record of ${subject} during each of ${MOST_ATTEMPTS} attempts.`)
  }

  async function read(subject: string) {
    const { text, time } = await find(subject)
    return { ...parse(text, time), time }
  }

  /** The record that has the response to a delivery. */
  async function readAnswered(subject: string, delivery: string, last: DeliveryRecord, time: number) {
    const { record } = last.delivery === delivery ? { record: last } : await read(earlier(subject, delivery))
    return record && (record.responseExpires ?? record.expires) > time ? record : undefined
  }

  /** The response to another delivery gets a record of its own, so that the record of a deployment does not grow. */
  async function setAside(subject: string, { response, delivery, ...last }: DeliveryRecord, time: number) {
    const { fence, claimed, digest, responseExpires: expires = last.expires } = last
    if (!response || delivery === undefined || expires <= time) return
    const record = { fence, claimed, expires, delivery, digest, response }
    await change(earlier(subject, delivery), () => ({ record, result: undefined }))
  }

  /** Changes a record under a lease. */
  const write = (
    lease: Lease,
    decide: (record: DeliveryRecord, time: number) => DeliveryRecord,
    isEnd = false,
  ) =>
    change<boolean>(
      lease.subject,
      (record, time) => {
        const isSame = record?.fence === lease.fence
        if (isSame && record.owner === lease.owner && isClaimed(record, time))
          return { record: decide(record, time), result: true }
        // An end whose answer was lost is repeated.
        return { result: isEnd && isSame && record.owner === undefined }
      },
      lease,
    )

  return {
    claim: ({ subject, delivery, leaseMs, owner = crypto.randomUUID() }) =>
      change(subject, async (last, time): Promise<Change<ClaimResult>> => {
        const known = last && delivery && (await readAnswered(subject, delivery.id, last, time))
        if (delivery && known?.digest !== undefined) {
          const { digest, response, fence } = known
          if (digest !== delivery.digest) return { result: { state: 'mismatch' } }
          if (response) return { result: { state: 'done', response, fence } }
        }
        const progress = last?.steps ?? {}
        if (last && isClaimed(last, time)) {
          const { fence, until = time } = last
          if (last.owner !== owner) return { result: { state: 'busy', retryAfterMs: until - time } }
          return { result: { state: 'claimed', lease: { subject, owner, fence }, progress } }
        }
        if (last) await setAside(subject, last, time)
        const lease = { subject, owner, fence: (last?.fence ?? 0) + 1 }
        const record = {
          ...{ fence: lease.fence, owner, until: time + leaseMs, claimed: time },
          expires: Math.max(last?.expires ?? 0, time + KEEP_MS),
          ...{ delivery: delivery?.id, digest: delivery?.digest, steps: last?.steps },
        }
        return { record, lease, result: { state: 'claimed', lease, progress } }
      }),

    renew(lease, leaseMs) {
      // Read again, for the time of the store itself: the lease must not end before its owner thinks so.
      written.delete(lease)
      return write(lease, (record, time) => ({ ...record, until: time + leaseMs }))
    },

    advance: (lease, steps) =>
      write(lease, (record) => ({ ...record, steps: { ...record.steps, ...steps } })),

    complete(lease, { response, progress, isLiving }) {
      const end = ({ fence, claimed, delivery, digest }: DeliveryRecord, time: number) => ({
        ...{ fence, claimed, expires: time + (isLiving ? KEEP_LIVING_MS : KEEP_MS), delivery, digest },
        steps: Object.keys(progress).length > 0 ? progress : undefined,
        response: delivery === undefined ? undefined : response,
        responseExpires: isLiving ? time + KEEP_MS : undefined,
      })
      return write(lease, end, true)
    },

    release(lease) {
      const end = ({ fence, claimed, expires, delivery, steps }: DeliveryRecord) => {
        return { fence, claimed, expires, delivery, steps }
      }
      return write(lease, end, true)
    },

    reopen: (subject, fence, toSteps) =>
      change<boolean>(subject, (last, time) => {
        if (last?.fence !== fence || isClaimed(last, time)) return { result: false }
        const { claimed, expires, delivery, digest, response } = last
        const steps = { ...last.steps, ...toSteps(response) }
        return { record: { fence: fence + 1, claimed, expires, delivery, digest, steps }, result: true }
      }),

    reserve: ({ subject, owner }) =>
      change(subject, (last, time) => {
        const first = last?.steps?.owner
        if (typeof first === 'string') return { result: first }
        const fence = (last?.fence ?? 0) + 1
        const expires = time + KEEP_LIVING_MS
        return { record: { fence, claimed: time, expires, steps: { owner } }, result: owner }
      }),

    async read(subject, asked) {
      const { record, time } = await read(subject)
      if (!record) return undefined
      const { fence, claimed, delivery, owner, until = time, steps, expires } = record
      const answered = asked === undefined ? undefined : await readAnswered(subject, asked, record, time)
      const { status, code, at }: Partial<RecordedResponse> = answered?.response ?? {}
      return {
        ...{ fence, claimedAt: claimed, delivery, expires, progress: steps ?? {} },
        leaseMs: owner === undefined ? undefined : Math.max(0, until - time),
        response: status === undefined ? undefined : { status, code, at },
      }
    },

    probe: () => storage.probe(),
  }
}

/** The subject of the response to a delivery that is not the last one of its subject. */
const earlier = (subject: string, delivery: string) => JSON.stringify([subject, delivery])

/** Whether a claim lasts. */
const isClaimed = ({ owner, until = 0 }: DeliveryRecord, time: number) => owner !== undefined && until > time

const markOf = (text: string) => text.slice(0, MARK_LENGTH)
const jsonOf = (text: string) => text.slice(MARK_LENGTH)

/** @returns the record, unless it has expired, and its version */
function parse(text: string, time: number): { record?: DeliveryRecord; version: number } {
  if (text === '') return { version: 0 }
  const { version, ...record }: DeliveryRecord & { version: number } = JSON.parse(jsonOf(text))
  return record.expires > time || isClaimed(record, time) ? { record, version } : { version }
}
