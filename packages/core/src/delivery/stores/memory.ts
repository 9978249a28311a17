import type { DeliveryStore } from '../store.ts'
import { createOperations, type EarlierAnswer, type Row, type Rows } from './rules.ts'

interface MemoryRow extends Row {
  subject: string
  steps: Map<string, string>
  earlier: Map<string, EarlierAnswer>
  /** As counted at its last change. */
  bytes: number
}

/** Options of {@link memoryStore}. */
export interface MemoryStoreOptions {
  /**
   * Maximum size of the records, in bytes; 64 MiB by default, which is about 40,000 calls. The calls that were
   * claimed the longest ago give way. Tombstones, and records of what a deployment left at a provider, never do: when
   * there is no other room, `claim` throws.
   */
  capacity?: number
  /** @default Date.now */
  now?: () => number
}

/** The memory of a row, a step and an answer beside their texts, measured with Node 24. */
const ROW_BYTES = 1_300
const ENTRY_BYTES = 300
/** Rows that each claim looks at, to remove what has expired. */
const SWEPT = 2

/** A delivery store in memory, for development, tests, and hosts that may forget at a restart. */
export function memoryStore({
  capacity = 64 * 2 ** 20,
  now = Date.now,
}: MemoryStoreOptions = {}): DeliveryStore {
  const operations = createOperations(createRows(capacity, now))
  return {
    claim: async (...values) => operations.claim(now(), ...values),
    renew: async (...values) => operations.renew(now(), ...values),
    advance: async (...values) => operations.advance(now(), ...values),
    complete: async (...values) => operations.complete(now(), ...values),
    release: async (...values) => operations.release(now(), ...values),
    reserve: async (...values) => operations.reserve(now(), ...values),
    read: async (...values) => operations.read(now(), ...values),
    probe: async () => operations.probe(now()),
  }
}

function createRows(capacity: number, now: () => number): Rows<MemoryRow> {
  const rows = new Map<string, MemoryRow>()
  /** The rows without steps, in the order of their last claim. */
  const evictable = new Set<MemoryRow>()
  let bytes = 0
  let sweep = rows.values()

  const isHeld = ({ owner, until }: Row) => owner !== undefined && until > now()

  function resize(row: MemoryRow, by: number): void {
    row.bytes += by
    if (rows.get(row.subject) === row) bytes += by
  }

  function remove(row: MemoryRow): void {
    if (!rows.delete(row.subject)) return
    evictable.delete(row)
    bytes -= row.bytes
  }

  function removeEarlier(row: MemoryRow, answer: EarlierAnswer): void {
    row.earlier.delete(answer.delivery)
    resize(row, -sizeOfAnswer(answer))
  }

  /** Looks at the next rows, so that in time it has looked at every one. */
  function removeExpired(): void {
    for (let swept = 0; swept < SWEPT; swept += 1) {
      const { value: row } = sweep.next()
      if (!row) {
        sweep = rows.values()
        continue
      }
      if (row.expires <= now() && !isHeld(row)) remove(row)
      for (const answer of row.earlier.values()) {
        if (answer.expires > now()) break
        removeEarlier(row, answer)
      }
    }
  }

  function makeRoom(): void {
    for (const row of evictable) {
      if (bytes < capacity) return
      if (!isHeld(row)) remove(row)
    }
    if (bytes >= capacity) throw new Error('The memory store is full of records that it must keep.')
  }

  function updateEvictable(row: MemoryRow): void {
    evictable.delete(row)
    if ([...row.steps.values()].every((json) => json === 'null')) evictable.add(row)
  }

  return {
    find: (subject) => rows.get(subject),
    insert(subject, fields) {
      removeExpired()
      makeRoom()
      const row = { ...fields, subject, steps: new Map(), earlier: new Map(), bytes: 0 }
      rows.set(subject, row)
      resize(row, ROW_BYTES + 2 * subject.length + sizeOf(row))
      evictable.add(row)
    },
    update(row, fields) {
      const growth = sizeOf(fields) - sizeOf(row)
      Object.assign(row, fields)
      resize(row, growth)
      updateEvictable(row)
    },
    remove,
    findEarlier: ({ earlier }, delivery) => earlier.get(delivery),
    saveEarlier(row, answer) {
      const replaced = row.earlier.get(answer.delivery)
      if (replaced) removeEarlier(row, replaced)
      row.earlier.set(answer.delivery, answer)
      resize(row, sizeOfAnswer(answer))
    },
    listSteps: ({ steps }) => [...steps],
    saveSteps(row, steps) {
      for (const [name, json] of steps) {
        const replaced = row.steps.get(name)
        const before = replaced === undefined ? 0 : ENTRY_BYTES + name.length + replaced.length
        row.steps.set(name, json)
        resize(row, ENTRY_BYTES + name.length + json.length - before)
      }
      updateEvictable(row)
    },
    removeSteps(row) {
      for (const [name, json] of row.steps) resize(row, -(ENTRY_BYTES + name.length + json.length))
      row.steps.clear()
    },
    // A full store would refuse a claim.
    probe: makeRoom,
  }
}

/** The texts of a row, without its subject, its steps and its earlier answers. */
function sizeOf({ delivery = '', digest = '', answer }: Row): number {
  return delivery.length + digest.length + (answer?.response.body.length ?? 0)
}

function sizeOfAnswer({ delivery, digest, response }: EarlierAnswer): number {
  return ENTRY_BYTES + delivery.length + digest.length + response.body.length
}
