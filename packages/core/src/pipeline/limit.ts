/**
 * How many events are worked on at a time, over all integrations of a host.
 *
 * @module
 */
import { IntegrationError } from '../errors.ts'
import type { EventName } from '../contract/event.ts'

/** Counts the events under way, and turns further ones away early. */
export interface Gate {
  /** Events under way. */
  readonly inside: number
  /**
   * Lets an event in.
   *
   * @returns what to call when it is done
   * @throws {IntegrationError} `overloaded` where it is full; challenges and health checks are always let in
   */
  enter(event: EventName): () => void
}

/** Makes a gate for at most `limit` events at a time. */
export function createGate(limit: number): Gate {
  let inside = 0
  return {
    get inside() {
      return inside
    },
    enter(event) {
      const always = event === 'WEBHOOK_CHALLENGE' || event === 'HEALTH_CHECK'
      if (inside >= limit && !always) {
        throw new IntegrationError('overloaded', `This host works on ${limit} events already.`, {
          retryAfter: 1,
        })
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
