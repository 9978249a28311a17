import type { Json } from '../../contract/handler-context.ts'
import type {
  ClaimRequest,
  ClaimResult,
  DeliveryStore,
  Lease,
  RecordedResponse,
  SubjectRecord,
} from '../store.ts'

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
   * Records kept at most; the oldest finished ones give way, a live claim never does.
   * @default 100_000
   */
  capacity?: number
  /**
   * The time in milliseconds since 1970.
   * @default Date.now
   */
  now?: () => number
}

/** How long an unfinished record is kept after its last claim. */
const UNFINISHED_MS = 7 * 24 * 60 * 60 * 1000

/**
 * A delivery store in this process: for development, tests, and hosts that may forget at a restart.
 */
export function memoryStore(options: MemoryStoreOptions = {}): DeliveryStore {
  const { capacity = 100_000, now = Date.now } = options
  const records = new Map<string, StoredRecord>()

  function find(subject: string): StoredRecord | undefined {
    const record = records.get(subject)
    if (!record || record.expires > now() || isHeld(record)) return record
    records.delete(subject)
    return undefined
  }

  const isHeld = (record: StoredRecord) => record.holder !== undefined && record.holder.until > now()

  function held(lease: Lease): StoredRecord | undefined {
    const record = records.get(lease.subject)
    const valid = record?.holder?.owner === lease.owner && record.fence === lease.fence && isHeld(record)
    return valid ? record : undefined
  }

  function makeRoom(): void {
    for (const [subject, record] of records) {
      if (records.size < capacity) return
      if (!isHeld(record)) records.delete(subject)
    }
  }

  return {
    async claim({ subject, delivery, leaseMs }): Promise<ClaimResult> {
      const record = find(subject)
      const answered = delivery && record?.answers.get(delivery.id)
      const underWay = record?.holder?.delivery
      if (delivery && underWay?.id === delivery.id && underWay.digest !== delivery.digest)
        return { state: 'mismatch' }
      if (answered) {
        return answered.digest === delivery.digest
          ? { state: 'done', response: answered.answer }
          : { state: 'mismatch' }
      }
      if (record?.holder && isHeld(record))
        return { state: 'busy', retryAfterMs: record.holder.until - now() }

      if (!record) makeRoom()
      const claimed: StoredRecord = record ?? {
        fence: 0,
        holder: undefined,
        claimedAt: 0,
        delivery: undefined,
        progress: {},
        answers: new Map(),
        expires: 0,
      }
      const takenOver = claimed.holder !== undefined
      claimed.fence += 1
      claimed.holder = { owner: crypto.randomUUID(), until: now() + leaseMs, delivery }
      claimed.claimedAt = now()
      claimed.delivery = delivery?.id
      claimed.expires = now() + UNFINISHED_MS
      // Set anew, so that the order of the map is the order of last use.
      records.delete(subject)
      records.set(subject, claimed)
      const lease = { subject, owner: claimed.holder.owner, fence: claimed.fence }
      return { state: 'claimed', lease, takenOver, progress: structuredClone(claimed.progress) }
    },

    async renew(lease, leaseMs) {
      const record = held(lease)
      if (record?.holder) record.holder.until = now() + leaseMs
      return record !== undefined
    },

    async advance(lease, steps) {
      const record = held(lease)
      if (record) Object.assign(record.progress, structuredClone(steps))
      return record !== undefined
    },

    async complete(lease, { response: answer, progress, keepMs }) {
      const record = held(lease)
      if (!record) return false
      const delivery = record.holder?.delivery
      if (delivery)
        record.answers.set(delivery.id, { digest: delivery.digest, answer: structuredClone(answer) })
      record.progress = structuredClone(progress)
      record.expires = now() + keepMs
      record.holder = undefined
      return true
    },

    async release(lease) {
      const record = held(lease)
      if (!record) return false
      record.holder = undefined
      if (Object.keys(record.progress).length === 0 && record.answers.size === 0)
        records.delete(lease.subject)
      return true
    },

    async read(subject): Promise<SubjectRecord | undefined> {
      const record = find(subject)
      if (!record) return undefined
      const { fence, claimedAt, delivery, holder, progress, answers, expires } = record
      return {
        fence,
        claimedAt,
        delivery,
        leaseMs: holder && Math.max(0, holder.until - now()),
        progress: structuredClone(progress),
        responses: [...answers].map(
          ([
            id,
            {
              answer: { body: _, ...facts },
            },
          ]) => ({ delivery: id, ...facts }),
        ),
        expires,
      }
    },

    async ping() {},
  }
}
