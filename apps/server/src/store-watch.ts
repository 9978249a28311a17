import type { DeliveryStore, Logger } from '@org/core'

/** Orchestrators wait for `/readyz` for two seconds or less. */
const LONGEST_PROBE_MS = 1_500

/**
 * Makes the question whether the delivery store takes writes, for `GET /readyz` and the metrics. It logs when the
 * answer changes: without an event that has an effect, nothing else would tell the reason.
 */
export function watchStore(store: Pick<DeliveryStore, 'probe'>, logger: Logger): () => Promise<boolean> {
  let wasReachable = true

  function note(isReachable: boolean, reason = ''): boolean {
    if (!isReachable && wasReachable) logger('error', 'The delivery store is unreachable.', { reason })
    if (isReachable && !wasReachable) logger('info', 'The delivery store takes writes again.')
    wasReachable = isReachable
    return isReachable
  }

  return async () => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const late = new Promise<never>((_, reject) => {
      const error = new Error(`It took no write within ${LONGEST_PROBE_MS} ms.`)
      timer = setTimeout(() => reject(error), LONGEST_PROBE_MS)
    })
    try {
      await Promise.race([store.probe(), late])
      return note(true)
    } catch (error) {
      return note(false, error instanceof Error ? error.message : 'unknown')
    } finally {
      clearTimeout(timer)
    }
  }
}
