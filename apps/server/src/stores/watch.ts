import type { DeliveryStore, Logger } from '@org/core'
import { causeOf } from '@org/core/errors'
import { within } from '@org/core/internal/host'

/** Orchestrators wait for `/readyz` for two seconds or less. */
const LONGEST_PROBE_MS = 1_500
/** How long a store that is away may hold an answer that does not depend on it. Some orchestrators wait for one second. */
const LONGEST_WAIT_MS = 700
/** A probe is a write, and anyone may ask for it. */
const PROBE_INTERVAL_MS = 1_000

/** The state of the delivery store, for `GET /readyz` and the metrics. */
export type StoreWatch = ReturnType<typeof watchStore>

/**
 * Watches the delivery store. It logs when the store goes away or comes back: without an event that has an effect,
 * nothing else would tell the reason.
 *
 * @param isShared whether other hosts use the same store
 */
export function watchStore(store: DeliveryStore, logger: Logger, isShared: boolean) {
  let isReachable: boolean | undefined
  let hasWritten = false
  let probedAt = Number.NEGATIVE_INFINITY

  function note(reason?: string): void {
    const isAway = reason !== undefined
    if (isAway && isReachable !== false) logger('error', 'The delivery store is unreachable.', { reason })
    if (!isAway && isReachable === false) logger('info', 'The delivery store takes writes again.')
    isReachable = !isAway
    hasWritten ||= isReachable
  }

  async function prove(): Promise<boolean> {
    if (performance.now() - probedAt >= PROBE_INTERVAL_MS) {
      probedAt = performance.now()
      const message = `It took no write within ${LONGEST_PROBE_MS} ms.`
      note(await within(LONGEST_PROBE_MS, store.probe(), message).then(() => undefined, causeOf))
    }
    return isReachable === true
  }

  return {
    /** The store, whose writes for events count as its first one, too. */
    watched: {
      ...store,
      async claim(request: Parameters<DeliveryStore['claim']>[0]) {
        const result = await store.claim(request)
        hasWritten = true
        return result
      },
    },
    /**
     * Proves that the store takes a write. A second proof within a second is the result of the first.
     *
     * @returns whether it took the last write
     */
    prove,
    /** Whether the store took the last write. */
    isReachable: () => isReachable === true,
    /** Whether another host would be no better: after the first write, a shared store is away for all hosts. */
    async isNoWorse() {
      const proof = prove()
      if (!isShared || !hasWritten) return proof
      // A store without an answer must not make this one late.
      await within(LONGEST_WAIT_MS, proof, 'The last result is told.').catch(() => {})
      return true
    },
  }
}
