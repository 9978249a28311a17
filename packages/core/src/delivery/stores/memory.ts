import type { DeliveryStore } from '../store.ts'
import { createDeliveryStore } from './delivery-store.ts'
import { MARK_LENGTH } from './format.ts'

/** Options of {@link memoryStore}. */
export interface MemoryStoreOptions {
  /**
   * Maximum size of the records, in bytes; 64 MiB by default, which is about 80,000 calls. The calls that were
   * answered the longest ago give way. Tombstones, and records of what a deployment left at a provider, never do: when
   * there is no other room, `claim` throws.
   */
  capacity?: number
  /** @default Date.now */
  now?: () => number
}

interface Entry {
  key: string
  text: string
  expires: number
  isDisposable: boolean
}

/** The memory of an entry beside its text, measured with Node 24. */
const ENTRY_BYTES = 300
/** A delivery store in memory, for development, tests, and hosts that may forget at a restart. */
export function memoryStore({
  capacity = 64 * 2 ** 20,
  now = Date.now,
}: MemoryStoreOptions = {}): DeliveryStore {
  /** In the order of their last writes. */
  const entries = new Map<string, Entry>()
  let bytes = 0

  function remove(entry: Entry): void {
    entries.delete(entry.key)
    bytes -= ENTRY_BYTES + entry.text.length
  }

  /** @throws if no record may give way */
  function makeRoom(): void {
    for (const entry of entries.values()) {
      if (bytes < capacity) return
      if (entry.isDisposable || entry.expires <= now()) remove(entry)
    }
    if (bytes >= capacity) throw new Error('The memory store is full of records that it must keep.')
  }

  return createDeliveryStore({
    now,
    read: async (key) => ({ text: entries.get(key)?.text, time: now() }),
    async swap(key, mark, { text, keepMs, isDisposable }) {
      const before = entries.get(key)
      if ((before?.text.slice(0, MARK_LENGTH) ?? '') !== mark) return false
      // A new record that may give way does so at the next claim.
      if (!before && !isDisposable) makeRoom()
      if (before) remove(before)
      entries.set(key, { key, text, expires: now() + keepMs, isDisposable })
      bytes += ENTRY_BYTES + text.length
      return true
    },
    // A full store would refuse a claim.
    probe: async () => makeRoom(),
  })
}
