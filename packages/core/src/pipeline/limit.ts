import type { EventName } from '../contract/event.ts'
import { IntegrationError } from '../errors.ts'

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
