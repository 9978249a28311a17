/** Shorter than a person or a health check notices, and long enough for the pauses to cost little. */
const SLICE_MS = 10

/**
 * Cuts long work into slices, so that it does not hold the event loop.
 *
 * @returns a function to call between two pieces of the work: it lets the others run if the slice is over
 * @example
 * ```ts
 * const yieldToLoop = timeSliced()
 * for (const message of messages) {
 *   await yieldToLoop()
 *   check(message)
 * }
 * ```
 */
export function timeSliced(milliseconds = SLICE_MS): () => Promise<void> | undefined {
  let end = performance.now() + milliseconds
  return () => {
    if (performance.now() < end) return undefined
    // A timer and not a microtask, which would run before any request is read.
    return new Promise((resolve) => {
      setTimeout(() => {
        end = performance.now() + milliseconds
        resolve()
      })
    })
  }
}
