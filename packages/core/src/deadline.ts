/**
 * A signal that fires when the time is over. Unlike `AbortSignal.timeout`, it costs nothing until somebody asks
 * for it, and ends with the work that it is for: a timer that is left behind holds on to what it knows for as long
 * as it would have run.
 */
export interface Deadline {
  readonly signal: AbortSignal
  /** For when the work is done: the signal will not fire any more. */
  end(): void
}

/**
 * Starts the time.
 *
 * @param lost ends the work earlier
 */
export function startDeadline(milliseconds: number, lost?: AbortSignal): Deadline {
  const at = performance.now() + milliseconds
  let controller: AbortController | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  const onLost = () => controller?.abort(lost?.reason)

  return {
    get signal() {
      if (controller) return controller.signal
      const opened = new AbortController()
      controller = opened
      timer = setTimeout(
        () => opened.abort(new DOMException('The time for this event is over.', 'TimeoutError')),
        Math.max(0, at - performance.now()),
      )
      if (lost?.aborted) onLost()
      else lost?.addEventListener('abort', onLost)
      return opened.signal
    },
    end() {
      clearTimeout(timer)
      lost?.removeEventListener('abort', onLost)
    },
  }
}
