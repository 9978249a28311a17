/** A change that begins later might be cut, in doubt. In milliseconds. */
const LEAST_MS = 2_000
/** One slow answer must not forbid all later changes of an event. */
const LARGEST_SHARE = 1 / 3
const REMEMBERED = 20

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
    /** Makes a change, and notes how long its answer took. */
    async note(change: () => Promise<Response>): Promise<Response> {
      const begun = Date.now()
      const response = await change()
      if (last.push(Date.now() - begun) > REMEMBERED) last.shift()
      return response
    },
  }
}
