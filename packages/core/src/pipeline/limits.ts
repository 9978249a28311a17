import type { EventName } from '../contract/event.ts'
import { IntegrationError } from '../errors.ts'

/**
 * A point in time, and the signal that fires then. The timer starts when somebody asks for the signal;
 * `AbortSignal.timeout` would hold its closure for its whole time.
 */
// A class: V8 keeps a hidden class for each object literal with a getter, with all that the getter sees.
export class Deadline {
  /** In milliseconds since 1970. */
  readonly at: number
  readonly #lost: AbortSignal | undefined
  #controller: AbortController | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  readonly #onLost = () => this.#controller?.abort(this.#lost?.reason)

  /**
   * @param milliseconds from now
   * @param lost aborts the signal earlier
   */
  constructor(milliseconds: number, lost?: AbortSignal) {
    this.at = Date.now() + milliseconds
    this.#lost = lost
  }

  get signal(): AbortSignal {
    if (this.#controller) return this.#controller.signal
    const controller = new AbortController()
    this.#controller = controller
    this.#timer = setTimeout(
      () => controller.abort(new DOMException('The time for this event is over.', 'TimeoutError')),
      Math.max(0, this.at - Date.now()),
    )
    if (this.#lost?.aborted) this.#onLost()
    else this.#lost?.addEventListener('abort', this.#onLost)
    return controller.signal
  }

  /** Call when the work is done: the signal will not fire any more. */
  end(): void {
    clearTimeout(this.#timer)
    this.#lost?.removeEventListener('abort', this.#onLost)
  }
}

/** Limits how many events a host works on at a time, over all its integrations. */
export type ConcurrencyLimit = ReturnType<typeof createConcurrencyLimit>

/** Makes a limit for the number of events at a time. */
export function createConcurrencyLimit(limit: number) {
  let active = 0
  return {
    /** Events under way. */
    get active(): number {
      return active
    },
    /**
     * Admits an event. Challenges and health checks are always admitted.
     *
     * @returns a function to call once, when the event is done
     * @throws {IntegrationError} `overloaded` at the limit
     */
    enter(event: EventName): () => void {
      const exempt = event === 'WEBHOOK_CHALLENGE' || event === 'HEALTH_CHECK'
      if (active >= limit && !exempt) {
        const message = `This host works on ${limit} events already.`
        throw new IntegrationError('overloaded', message, { retryAfter: 1 })
      }
      active += 1
      return () => {
        active -= 1
      }
    },
  }
}
