import type { DeliveryStore } from '../store.ts'
import { createDeliveryStore } from './delivery-store.ts'
import { MARK_LENGTH } from './format.ts'

/** Options of {@link memoryStore}. */
export interface MemoryStoreOptions {
  /**
   * Maximum size of the records, in bytes; 64 MiB by default, which is about 80,000 calls. The records that were
   * written the longest ago give way.
   */
  capacity?: number
  /** @default Date.now */
  now?: () => number
}

/** The memory of a record beside its text, measured with Node 24. */
const RECORD_BYTES = 300

/** A delivery store in memory, for development, tests, and hosts that may forget at a restart. */
export function memoryStore({
  capacity = 64 * 2 ** 20,
  now = Date.now,
}: MemoryStoreOptions = {}): DeliveryStore {
  /** In the order of their last writes. */
  const texts = new Map<string, string>()
  let bytes = 0

  function remove(key: string, text: string): void {
    texts.delete(key)
    bytes -= RECORD_BYTES + text.length
  }

  return createDeliveryStore({
    now,
    read: async (key) => ({ text: texts.get(key), time: now() }),
    async swap(key, mark, text) {
      const before = texts.get(key)
      if ((before?.slice(0, MARK_LENGTH) ?? '') !== mark) return false
      if (before !== undefined) remove(key, before)
      for (const [oldest, text] of texts) {
        if (bytes < capacity) break
        remove(oldest, text)
      }
      texts.set(key, text)
      bytes += RECORD_BYTES + text.length
      return true
    },
    probe: async () => {},
  })
}
