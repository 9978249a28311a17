import type { PlatformEvent } from '../contract/event.ts'
import { IntegrationError } from '../errors.ts'
import { addTo, createBodyMemory } from '../request/body-memory.ts'

/**
 * A point in time, and the signal that fires then. The timer starts when somebody asks for the signal;
 * `AbortSignal.timeout` would hold its closure for its whole time.
 */
export class Deadline {
  /** In milliseconds since 1970. */
  readonly at: number
  readonly #lost: AbortSignal | undefined
  #controller: AbortController | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  #onLost: (() => void) | undefined

  /**
   * @param at in milliseconds since 1970
   * @param lost aborts the signal earlier
   */
  constructor(at: number, lost?: AbortSignal) {
    this.at = at
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
    const onLost = () => controller.abort(this.#lost?.reason)
    this.#onLost = onLost
    if (this.#lost?.aborted) onLost()
    else this.#lost?.addEventListener('abort', onLost)
    return controller.signal
  }

  /** Call when the work is done: the signal will not fire any more. */
  clear(): void {
    clearTimeout(this.#timer)
    if (this.#onLost) this.#lost?.removeEventListener('abort', this.#onLost)
  }
}

/** Limits how many events a host works on at a time, and the length of their bodies, over all its integrations. */
export type ConcurrencyLimit = ReturnType<typeof createConcurrencyLimit>

/**
 * Makes a limit for the number of events at a time, and for the memory of their bodies. One deployment has at most a
 * quarter of the number and half of the memory; so have, together, the events of one integration that name none.
 */
export function createConcurrencyLimit(limit: number) {
  const share = Math.max(1, Math.floor(limit / 4))
  const actives = new Map<string, number>()
  let active = 0
  const bodies = createBodyMemory()
  return {
    openBody: bodies.open,
    /** Events under way. */
    get active(): number {
      return active
    },
    /**
     * Admits an event. Challenges, which call nobody, are always admitted.
     *
     * @param owner see {@link ownerOf}; call `leave` with it once, when the event is done
     * @throws {IntegrationError} `overloaded` at the limit, or at the deployment's share of it
     */
    enter(owner: string, { name, deployment }: PlatformEvent, route: string): void {
      const own = actives.get(owner) ?? 0
      if (name !== 'WEBHOOK_CHALLENGE') {
        if (active >= limit) throw overloaded(`This host works on ${limit} events already.`)
        if (own >= share) {
          const whose = deployment ? 'of this deployment' : `of /${route} without a deployment`
          throw overloaded(`This host works on ${share} events ${whose} already.`)
        }
      }
      active += 1
      addTo(actives, owner, 1)
    },
    leave(owner: string): void {
      active -= 1
      addTo(actives, owner, -1)
    },
  }
}

/** Whose share of the host an event uses. */
export function ownerOf({ deployment }: PlatformEvent, route: string): string {
  return deployment ? `deployment ${deployment.id}` : `route ${route}`
}

function overloaded(message: string): IntegrationError {
  return new IntegrationError('overloaded', message, { retryAfter: 1 })
}
