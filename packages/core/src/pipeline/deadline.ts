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
  return new LazyDeadline(milliseconds, lost)
}

// A class, because a getter in an object that is made for each event gives each of them a hidden class of its
// own, which V8 keeps until a full collection, with all that the getter sees.
class LazyDeadline implements Deadline {
  readonly #at: number
  readonly #lost: AbortSignal | undefined
  #controller: AbortController | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  readonly #onLost = () => this.#controller?.abort(this.#lost?.reason)

  constructor(milliseconds: number, lost: AbortSignal | undefined) {
    this.#at = performance.now() + milliseconds
    this.#lost = lost
  }

  get signal(): AbortSignal {
    if (this.#controller) return this.#controller.signal
    const opened = new AbortController()
    this.#controller = opened
    this.#timer = setTimeout(
      () => opened.abort(new DOMException('The time for this event is over.', 'TimeoutError')),
      Math.max(0, this.#at - performance.now()),
    )
    if (this.#lost?.aborted) this.#onLost()
    else this.#lost?.addEventListener('abort', this.#onLost)
    return opened.signal
  }

  end(): void {
    clearTimeout(this.#timer)
    this.#lost?.removeEventListener('abort', this.#onLost)
  }
}
