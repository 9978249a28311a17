/**
 * A limit on the number of concurrent events, over all integrations of a host.
 *
 * @module
 */
import { IntegrationError } from './errors.ts'
import type { EventName } from './event.ts'

/** Counts the events in progress, and refuses further ones. */
export interface Gate {
  /** The number of events in progress. */
  readonly inside: number
  /**
   * Admits an event. Challenges and health checks are always admitted.
   *
   * @returns a function to call at the end of the event
   * @throws {IntegrationError} `overloaded` if the limit is reached
   */
  enter(event: EventName): () => void
}

/** Makes a gate for at most `limit` concurrent events. */
export function createGate(limit: number): Gate {
  let inside = 0
  return {
    get inside() {
      return inside
    },
    enter(event) {
      const always = event === 'WEBHOOK_CHALLENGE' || event === 'HEALTH_CHECK'
      if (inside >= limit && !always) {
        const message = `This host is at its limit of ${limit} concurrent events.`
        throw new IntegrationError('overloaded', message, { retryAfter: 1 })
      }
      inside += 1
      let left = false
      return () => {
        if (!left) inside -= 1
        left = true
      }
    },
  }
}
