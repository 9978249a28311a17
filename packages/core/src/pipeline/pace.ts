/** How many changes are remembered. */
const REMEMBERED = 20
/** In milliseconds. */
const LEAST_MS = 2_000
/** One slow answer must not forbid all later changes of an event. */
const LARGEST_SHARE = 1 / 3

/** How long changes take. */
export type Pace = ReturnType<typeof createPace>

/**
 * Remembers how long the last changes took: one that begins with less time left might be cut, in doubt.
 *
 * @param timeoutMs the longest time for one event
 */
export function createPace(timeoutMs: number) {
  const last: number[] = []
  return {
    /** The time that a change needs, in milliseconds. */
    neededMs: () => Math.min(Math.max(LEAST_MS, ...last), timeoutMs * LARGEST_SHARE),
    /** Notes how long a change took, in milliseconds. */
    note(durationMs: number): void {
      last.push(durationMs)
      if (last.length > REMEMBERED) last.shift()
    },
  }
}
