/**
 * The early end of a batch: its signal, its deadline, a refused token, or an error of the caller’s own code.
 *
 * @module
 */
import { IntegrationError, isIntegrationError } from '@org/core/errors'

/** The longest time that a timer takes; a longer one would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

/** The early end of one batch. */
export type Ending = ReturnType<typeof createEnding>

/**
 * Watches the signal and the deadline of a batch.
 *
 * @param limits the caller’s signal, and when the batch must be over, in milliseconds since 1970
 */
export function createEnding({ signal, deadline }: { signal: AbortSignal | undefined; deadline: number }) {
  const controller = new AbortController()
  const end = (reason: IntegrationError) => controller.abort(reason)
  const onAbort = () => end(endedBy(signal?.reason))
  const remaining = deadline - Date.now()
  const timer =
    remaining <= LONGEST_TIMER_MS ? setTimeout(() => end(timeIsOver()), Math.max(0, remaining)) : undefined
  if (signal?.aborted) onAbort()
  else signal?.addEventListener('abort', onAbort)

  return {
    /** Fires when the batch ends early. */
    signal: controller.signal,
    /** Why the batch ended early; `undefined` while it goes on. */
    get reason(): IntegrationError | undefined {
      const { aborted, reason } = controller.signal
      return aborted && isIntegrationError(reason) ? reason : undefined
    },
    /** Ends the batch: no further call begins. Calls in flight go on. */
    end,
    /** Forgets the signal and the timer. */
    close(): void {
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
    },
  }
}

/** The failure of a message for which the time is too short. */
export function timeIsOver(): IntegrationError {
  return new IntegrationError('provider_timeout', 'The time of the batch was over before this mail was sent.')
}

function endedBy(reason: unknown): IntegrationError {
  if (isIntegrationError(reason)) return reason
  if (reason instanceof Error && reason.name === 'TimeoutError') return timeIsOver()
  return new IntegrationError('aborted', 'The caller ended the batch before this mail was sent.', {
    cause: reason,
  })
}

/** Waits for work of the caller’s code, but not after the batch has ended. */
export function orEnded<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const leave = () => reject(signal.reason)
    if (signal.aborted) leave()
    signal.addEventListener('abort', leave)
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave))
  })
}
