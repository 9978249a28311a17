/**
 * The memory for the calls of batches.
 *
 * @module
 */

/** Memory that batches share. */
export type BatchMemory = ReturnType<typeof createBatchMemory>

/**
 * Makes the memory for the calls that are composed or in flight.
 *
 * @param forAll of all batches, in bytes
 * @param forEach of the batches of one owner, in bytes
 */
export function createBatchMemory(forAll: number, forEach = forAll) {
  const held = new Map<string, number>()
  let total = 0
  let freed = Promise.withResolvers<void>()

  function hasRoom(owner: string, bytes: number): boolean {
    return (held.get(owner) ?? 0) + bytes <= forEach && total + bytes <= forAll
  }

  function add(owner: string, bytes: number): void {
    const own = (held.get(owner) ?? 0) + bytes
    held.set(owner, own)
    if (own === 0) held.delete(owner)
    total += bytes
  }

  return {
    /**
     * Waits for the memory of a call, or for the signal. An owner at its limit holds up no other one.
     *
     * @returns a function that gives back a part of it, or all that is left
     */
    async take(owner: string, bytes: number, signal: AbortSignal): Promise<(part?: number) => void> {
      const ended = new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
      while (!signal.aborted && !hasRoom(owner, bytes)) await Promise.race([freed.promise, ended])
      add(owner, bytes)
      let left = bytes
      return (part = left) => {
        left -= part
        add(owner, -part)
        freed.resolve()
        freed = Promise.withResolvers()
      }
    },
  }
}
