/**
 * The early end of a batch: its signal, its deadline, a host that stops, a refused token, or an error of the caller’s own
 * code.
 *
 * @module
 */
import { IntegrationError, isIntegrationError } from '@org/core/errors'

/** The longest time that a timer takes; a longer one would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

/** The early end of one batch. */
export type Ending = ReturnType<typeof createEnding>

/**
 * Watches the signals and the deadline of a batch.
 *
 * @param limits the caller’s signal, when the batch must be over, in milliseconds since 1970, and the signal of a host
 * that stops
 */
export function createEnding({
  signal,
  deadline,
  stopping,
}: {
  signal: AbortSignal | undefined
  deadline: number
  stopping: AbortSignal | undefined
}) {
  const controller = new AbortController()
  const end = (reason: IntegrationError) => controller.abort(reason)
  const onAbort = () => end(endedBy(signal?.reason))
  const onStop = () => end(hostStops())
  const remaining = deadline - Date.now()
  const timer =
    remaining <= LONGEST_TIMER_MS ? setTimeout(() => end(timeIsOver()), Math.max(0, remaining)) : undefined
  if (signal?.aborted) onAbort()
  else signal?.addEventListener('abort', onAbort)
  if (stopping?.aborted) onStop()
  else stopping?.addEventListener('abort', onStop)

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
    /** Forgets the signals and the timer. */
    close(): void {
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
      stopping?.removeEventListener('abort', onStop)
    },
  }
}

/** The failure of a message for which the time is too short. */
export function timeIsOver(): IntegrationError {
  return new IntegrationError('provider_timeout', 'The time of the batch was over before this mail was sent.')
}

function hostStops(): IntegrationError {
  return new IntegrationError('shutting_down', 'The host is shutting down.', { retryAfter: 1 })
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
