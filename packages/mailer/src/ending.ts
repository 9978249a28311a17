/**
 * The early end of a batch: its signals, its deadline, a refused token, or an error of the caller’s own code.
 *
 * @module
 */
import { IntegrationError, isIntegrationError } from '@org/core/errors'

/** The longest time that a timer takes; a longer one would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

/** The early end of one batch. */
export type Ending = ReturnType<typeof createEnding>

type Limits = { deadline: number } & { [name in 'signal' | 'stop' | 'stopping']?: AbortSignal | undefined }

/** Watches the signals and the deadline of a batch. */
export function createEnding({ signal, deadline, stop, stopping }: Limits) {
  const controller = new AbortController()
  const end = (reason: IntegrationError) => controller.abort(reason)
  const closed = new AbortController()
  function follow(other: AbortSignal | undefined, reasonOf: () => IntegrationError): void {
    const onAbort = () => end(reasonOf())
    if (other?.aborted) onAbort()
    else other?.addEventListener('abort', onAbort, { signal: closed.signal })
  }
  const leftMs = deadline - Date.now()
  const timer = leftMs <= LONGEST_TIMER_MS ? setTimeout(() => end(timeIsOver()), Math.max(0, leftMs)) : 0
  follow(signal, () => endedBy(signal?.reason))
  follow(stop, () => new IntegrationError('aborted', 'The batch was stopped before this mail was sent.'))
  follow(
    stopping,
    () => new IntegrationError('shutting_down', 'The host is shutting down.', { retryAfter: 1 }),
  )

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
      closed.abort()
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
