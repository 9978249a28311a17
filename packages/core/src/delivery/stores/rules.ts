/**
 * The rules of claims, the same for every store: `createDeliveryStore` makes one of a place for texts.
 *
 * @module
 */
import type { ClaimResult, DeliveryStore, Lease, RecordedResponse } from '../store.ts'
import { type Change, createRecords, type DeliveryRecord, isClaimed, type RecordStorage } from './records.ts'

export type { RecordStorage, StoredText } from './records.ts'

/** How long an unfinished record is kept after its last claim, in milliseconds. */
const UNFINISHED_MS = 7 * 24 * 60 * 60 * 1000

/**
 * Makes a delivery store.
 *
 * @param storage keeps one text for each subject
 * @param recordKeys sign the records: the first one is used, and records of all are recognised. Without any, a
 * writer of the storage can change records unseen.
 */
export function createDeliveryStore(storage: RecordStorage, recordKeys?: readonly string[]): DeliveryStore {
  const { read, change } = createRecords(storage, recordKeys)

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
    { subject, owner, fence }: Lease,
    decide: (record: DeliveryRecord, time: number) => DeliveryRecord,
    by?: 'owner',
  ) =>
    change<boolean>(
      subject,
      (record, time) =>
        record?.owner === owner && record.fence === fence && isClaimed(record, time)
          ? { record: decide(record, time), result: true }
          : { result: false },
      by,
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
          const lease = { subject, owner, fence, delivery: last.delivery }
          return { result: { state: 'claimed', lease, progress } }
        }
        if (last) await setAside(subject, last, time)
        const lease = { subject, owner, fence: (last?.fence ?? 0) + 1, delivery: delivery?.id }
        const record = {
          ...{ fence: lease.fence, owner, until: time + leaseMs, claimed: time },
          expires: Math.max(last?.expires ?? 0, time + UNFINISHED_MS),
          ...{ delivery: delivery?.id, digest: delivery?.digest, steps: last?.steps },
        }
        return { record, result: { state: 'claimed', lease, progress } }
      }),

    // By the time of the store itself: the lease must not end before its owner thinks so.
    renew: (lease, leaseMs) => write(lease, (record, time) => ({ ...record, until: time + leaseMs })),

    advance: (lease, steps) =>
      write(lease, (record) => ({ ...record, steps: { ...record.steps, ...steps } }), 'owner'),

    complete: (lease, { response, progress, keepMs, keepResponseMs }) =>
      write(
        lease,
        ({ fence, claimed, delivery, digest }, time) => ({
          ...{ fence, claimed, expires: time + keepMs, delivery, digest },
          steps: Object.keys(progress).length > 0 ? progress : undefined,
          response: delivery === undefined ? undefined : response,
          responseExpires: keepResponseMs < keepMs ? time + keepResponseMs : undefined,
        }),
        'owner',
      ),

    release: (lease) =>
      write(
        lease,
        ({ fence, claimed, expires, delivery, steps }) => ({ fence, claimed, expires, delivery, steps }),
        'owner',
      ),

    reopen: (subject, fence, toSteps) =>
      change<boolean>(subject, (last, time) => {
        if (last?.fence !== fence || isClaimed(last, time)) return { result: false }
        const { claimed, expires, delivery, digest, response } = last
        const steps = { ...last.steps, ...toSteps(response) }
        return { record: { fence: fence + 1, claimed, expires, delivery, digest, steps }, result: true }
      }),

    reserve: ({ subject, owner, keepMs }) =>
      change(subject, (last, time) => {
        const first = last?.steps?.owner
        if (typeof first === 'string') return { result: first }
        const fence = (last?.fence ?? 0) + 1
        return { record: { fence, claimed: time, expires: time + keepMs, steps: { owner } }, result: owner }
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
function earlier(subject: string, delivery: string): string {
  return JSON.stringify([subject, delivery])
}
