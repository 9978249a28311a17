/**
 * The early end of a batch, or of the wait for a template: signals, a deadline, a refused token, or an error of the
 * caller’s own code.
 *
 * @module
 */
import { IntegrationError, isIntegrationError } from '@org/core/errors'

/** The longest time that a timer takes; a longer one would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1
/** After the end of a batch, the caller’s code still has so long. */
const GRACE_MS = 1_000

/** The early end of one batch. */
export type Ending = ReturnType<typeof createEnding>

type Limits = { deadline: number } & { [name in 'signal' | 'stop']?: AbortSignal | undefined }

/** Watches signals and a deadline. */
export function createEnding({ signal, deadline, stop }: Limits) {
  const [ended, late, closed] = [new AbortController(), new AbortController(), new AbortController()]
  let timer: ReturnType<typeof setTimeout> | undefined
  function end(reason: IntegrationError): void {
    if (ended.signal.aborted) return
    clearTimeout(timer)
    timer = setTimeout(() => late.abort(reason), GRACE_MS)
    ended.abort(reason)
  }
  function follow(other: AbortSignal | undefined, reasonOf: () => IntegrationError): void {
    const onAbort = () => end(reasonOf())
    if (other?.aborted) onAbort()
    else other?.addEventListener('abort', onAbort, { signal: closed.signal })
  }
  const leftMs = deadline - Date.now()
  if (leftMs <= LONGEST_TIMER_MS) timer = setTimeout(() => end(timeIsOver()), Math.max(0, leftMs))
  follow(signal, () => endedBy(signal?.reason))
  follow(stop, () => new IntegrationError('aborted', 'The batch was stopped before this mail was sent.'))

  return {
    /** Fires when the batch ends early. */
    signal: ended.signal,
    /** Runs the caller’s code, and waits for it until a second after the end. */
    run: <Value>(work: () => Value | Promise<Value>) => orEnded(Promise.resolve().then(work), late.signal),
    /** Why the batch ended early; `undefined` while it goes on. */
    get reason(): IntegrationError | undefined {
      const { reason } = ended.signal
      return isIntegrationError(reason) ? reason : undefined
    },
    /** Ends the batch, the first time: no further call begins. Calls in flight go on. */
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
  return new IntegrationError('provider_timeout', 'The time was over before this mail was sent.')
}

function endedBy(reason: unknown): IntegrationError {
  if (isIntegrationError(reason)) return reason
  if (reason instanceof Error && reason.name === 'TimeoutError') return timeIsOver()
  const text = 'The caller ended the work before this mail was sent.'
  return new IntegrationError('aborted', text, { cause: reason })
}

/** Waits for work of the caller’s code, but not after the signal. */
export function orEnded<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const leave = () => reject(signal.reason)
    if (signal.aborted) leave()
    signal.addEventListener('abort', leave)
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave))
  })
}
