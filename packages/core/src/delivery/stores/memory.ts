import type { Json } from '../../contract/handler-context.ts'
import type { ClaimRequest, DeliveryStore, Lease, RecordedResponse } from '../store.ts'
import { UNFINISHED_MS } from './records.ts'

interface StoredRecord {
  fence: number
  holder: { owner: string; until: number; delivery: ClaimRequest['delivery'] } | undefined
  claimedAt: number
  /** The id of the delivery that claimed it last. */
  delivery: string | undefined
  progress: Record<string, Json>
  answers: Map<string, { digest: string; answer: RecordedResponse }>
  expires: number
}

/** Options of {@link memoryStore}. */
export interface MemoryStoreOptions {
  /**
   * Maximum number of records. The least recently used give way, except for live claims.
   * @default 100_000
   */
  capacity?: number
  /**
   * The time in milliseconds since 1970.
   * @default Date.now
   */
  now?: () => number
}

/** A delivery store in memory, for development, tests, and hosts that may forget at a restart. */
export function memoryStore({ capacity = 100_000, now = Date.now }: MemoryStoreOptions = {}): DeliveryStore {
  const records = new Map<string, StoredRecord>()

  const isHeld = ({ holder }: StoredRecord) => holder !== undefined && holder.until > now()

  function find(subject: string): StoredRecord | undefined {
    const record = records.get(subject)
    if (!record || record.expires > now() || isHeld(record)) return record
    records.delete(subject)
    return undefined
  }

  function findHeld({ subject, owner, fence }: Lease): StoredRecord | undefined {
    const record = records.get(subject)
    const valid = record?.holder?.owner === owner && record.fence === fence && isHeld(record)
    return valid ? record : undefined
  }

  function makeRoom(): void {
    for (const [subject, record] of records) {
      if (records.size < capacity) return
      if (!isHeld(record)) records.delete(subject)
    }
  }

  function create(): StoredRecord {
    makeRoom()
    const empty = { progress: {}, answers: new Map(), expires: 0 }
    return { fence: 0, holder: undefined, claimedAt: 0, delivery: undefined, ...empty }
  }

  return {
    async claim({ subject, delivery, leaseMs }) {
      const found = find(subject)
      const recorded = delivery && found?.answers.get(delivery.id)
      const holding = found?.holder?.delivery
      const known = recorded ?? (holding?.id === delivery?.id ? holding : undefined)
      if (delivery && known && known.digest !== delivery.digest) return { state: 'mismatch' }
      if (recorded) return { state: 'done', response: recorded.answer }
      if (found?.holder && isHeld(found)) return { state: 'busy', retryAfterMs: found.holder.until - now() }

      const record = found ?? create()
      const owner = crypto.randomUUID()
      const takenOver = record.holder !== undefined
      record.fence += 1
      record.holder = { owner, until: now() + leaseMs, delivery }
      record.claimedAt = now()
      record.delivery = delivery?.id
      record.expires = now() + UNFINISHED_MS
      // Set anew, so that the order of the map is the order of last use.
      records.delete(subject)
      records.set(subject, record)
      const lease = { subject, owner, fence: record.fence }
      return { state: 'claimed', lease, takenOver, progress: structuredClone(record.progress) }
    },

    async renew(lease, leaseMs) {
      const record = findHeld(lease)
      if (record?.holder) record.holder.until = now() + leaseMs
      return record !== undefined
    },

    async advance(lease, steps) {
      const record = findHeld(lease)
      if (record) Object.assign(record.progress, structuredClone(steps))
      return record !== undefined
    },

    async complete(lease, { response, progress, keepMs }) {
      const record = findHeld(lease)
      if (!record) return false
      const delivery = record.holder?.delivery
      if (delivery)
        record.answers.set(delivery.id, { digest: delivery.digest, answer: structuredClone(response) })
      record.progress = structuredClone(progress)
      record.expires = now() + keepMs
      record.holder = undefined
      return true
    },

    async release(lease) {
      const record = findHeld(lease)
      if (!record) return false
      record.holder = undefined
      const isEmpty = Object.keys(record.progress).length === 0 && record.answers.size === 0
      if (isEmpty) records.delete(lease.subject)
      return true
    },

    async read(subject) {
      const record = find(subject)
      if (!record) return undefined
      const { holder, progress, answers, ...facts } = record
      const listed = [...answers].map(
        ([
          delivery,
          {
            answer: { body: _, ...answer },
          },
        ]) => ({ delivery, ...answer }),
      )
      const leaseMs = holder && Math.max(0, holder.until - now())
      return { ...facts, leaseMs, progress: structuredClone(progress), responses: listed }
    },

    async ping() {},
  }
}
