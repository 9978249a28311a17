import type { ClaimRequest, DeliveryStore, Lease, RecordedResponse, SubjectRecord } from '../store.ts'
import { UNFINISHED_MS } from './records.ts'

interface StoredRecord
  extends Pick<SubjectRecord, 'fence' | 'claimedAt' | 'delivery' | 'progress' | 'expires'> {
  holder: { owner: string; until: number; delivery: ClaimRequest['delivery'] } | undefined
  /** By the id of the delivery. */
  responses: Map<string, { digest: string; response: RecordedResponse; expires: number }>
}

/** Options of {@link memoryStore}. */
export interface MemoryStoreOptions {
  /** Maximum number of records; 100,000 by default. The least recently used give way, except for live claims. */
  capacity?: number
  /** @default Date.now */
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

  return {
    async claim({ subject, delivery, leaseMs }) {
      const found = find(subject)
      for (const [id, { expires }] of found?.responses ?? [])
        if (expires <= now()) found?.responses.delete(id)
      const recorded = delivery && found?.responses.get(delivery.id)
      const holding = found?.holder?.delivery
      const known = recorded ?? (holding?.id === delivery?.id ? holding : undefined)
      if (delivery && known && known.digest !== delivery.digest) return { state: 'mismatch' }
      if (recorded) return { state: 'done', response: recorded.response }
      if (found?.holder && isHeld(found)) return { state: 'busy', retryAfterMs: found.holder.until - now() }

      if (!found) makeRoom()
      const { fence, progress, responses } = found ?? { fence: 0, progress: {}, responses: new Map() }
      const lease = { subject, owner: crypto.randomUUID(), fence: fence + 1 }
      // Set anew, so that the order of the map is the order of last use.
      records.delete(subject)
      records.set(subject, {
        fence: lease.fence,
        holder: { owner: lease.owner, until: now() + leaseMs, delivery },
        claimedAt: now(),
        delivery: delivery?.id,
        progress,
        responses,
        expires: Math.max(found?.expires ?? 0, now() + UNFINISHED_MS),
      })
      return { state: 'claimed', lease, progress: structuredClone(progress) }
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

    async complete(lease, { response, progress, keepMs, keepResponseMs }) {
      const record = findHeld(lease)
      if (!record) return false
      const { id, digest = '' } = record.holder?.delivery ?? {}
      if (id !== undefined) {
        record.responses.set(id, { digest, response: { ...response }, expires: now() + keepResponseMs })
      }
      record.progress = structuredClone(progress)
      record.expires = now() + keepMs
      record.holder = undefined
      return true
    },

    async release(lease) {
      const record = findHeld(lease)
      if (!record) return false
      record.holder = undefined
      const isEmpty = Object.keys(record.progress).length === 0 && record.responses.size === 0
      if (isEmpty) records.delete(lease.subject)
      return true
    },

    async read(subject) {
      const record = find(subject)
      if (!record) return undefined
      const { holder, progress, ...facts } = record
      const responses = [...record.responses].flatMap(([delivery, { response, expires }]) => {
        const { body: _, ...rest } = response
        return expires > now() ? [{ delivery, ...rest }] : []
      })
      const leaseMs = holder && Math.max(0, holder.until - now())
      return { ...facts, leaseMs, progress: structuredClone(progress), responses }
    },

    async ping() {},
  }
}
