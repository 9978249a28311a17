import type { HttpFailure } from './failure.ts'

const RETRYABLE_STATUS = new Set([408, 425, 429, 500, 502, 503, 504])
const FIRST_BACKOFF_MS = 200
const LONGEST_BACKOFF_MS = 2_000

/**
 * Whether a failed attempt may be repeated: nothing can have happened, or repeating is harmless.
 *
 * @param repeatable whether sending the request twice is harmless
 */
export function isRetryable(failure: HttpFailure, repeatable: boolean): boolean {
  if (failure.kind === 'aborted' || failure.kind === 'too_large') return false
  if (failure.kind === 'status' && !RETRYABLE_STATUS.has(failure.status ?? 0)) return false
  return repeatable || failure.effect === 'none'
}

/**
 * The wait before the next attempt, in milliseconds: exponential, with full jitter.
 *
 * @param attempt the number of the attempt that failed, from 1
 */
export function backoff(attempt: number): number {
  return Math.random() * Math.min(LONGEST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** attempt)
}
