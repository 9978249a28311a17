import type { EventName } from '../contract/event.ts'
import { IntegrationError } from '../errors.ts'

/** Limits how many events a host works on at a time, over all its integrations. */
export interface ConcurrencyLimit {
  /** Events under way. */
  readonly active: number
  /**
   * Admits an event. Challenges and health checks are always admitted.
   *
   * @returns a function to call when the event is done
   * @throws {IntegrationError} `overloaded` at the limit
   */
  enter(event: EventName): () => void
}

/** Makes a limit of so many events at a time. */
export function createConcurrencyLimit(limit: number): ConcurrencyLimit {
  let active = 0
  return {
    get active() {
      return active
    },
    enter(event) {
      const exempt = event === 'WEBHOOK_CHALLENGE' || event === 'HEALTH_CHECK'
      if (active >= limit && !exempt) {
        const message = `This host works on ${limit} events already.`
        throw new IntegrationError('overloaded', message, { retryAfter: 1 })
      }
      active += 1
      let left = false
      return () => {
        if (!left) active -= 1
        left = true
      }
    },
  }
}
