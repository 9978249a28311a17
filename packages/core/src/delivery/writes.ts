/**
 * The writes of one claim: one at a time, in order, and each repeated until the store answers or the lease ends.
 */
import { IntegrationError, isIntegrationError } from '../errors.ts'
import type { Logger } from '../log.ts'

/** An event waits at least so long for a write, in milliseconds. */
const LEAST_WAIT_MS = 500
/** The pause before a write is repeated, in milliseconds; it doubles each time. */
const FIRST_PAUSE_MS = 50
const LONGEST_PAUSE_MS = 500

/** Keeps a process alive for work that goes on after a response. */
export type WaitUntil = (work: Promise<unknown>) => void

interface WritesOptions {
  logger: Logger
  /** Whether the lease is over by the local clock. */
  isOver: () => boolean
  waitUntil: WaitUntil | undefined
}

/**
 * Makes the queue of a claim's writes. A write without an answer may have been applied. Repeating it is harmless: it
 * is fenced, and no later write of the claim was made meanwhile.
 *
 * @returns a function that queues a write, and resolves with the store's answer. After `by`, in milliseconds since
 * 1970, it throws `overloaded`, and the write goes on in the background.
 */
export function createWrites({ logger, isOver, waitUntil }: WritesOptions) {
  let last: Promise<unknown> = Promise.resolve()
  const report = (cause: unknown) => logStoreFault(logger, cause)

  return async (write: () => Promise<boolean>, by = 0): Promise<boolean> => {
    const written = last.then(() => repeat(write, isOver, report))
    last = written.catch(() => {})
    let timer: ReturnType<typeof setTimeout> | undefined
    const late = new Promise<never>((_, reject) => {
      const waitMs = Math.max(by - Date.now(), LEAST_WAIT_MS)
      timer = setTimeout(() => {
        waitUntil?.(last)
        reject(unreachable())
      }, waitMs)
    })
    return Promise.race([written, late]).finally(() => clearTimeout(timer))
  }
}

/**
 * Asks the store until it answers, or until `isOver`, which is asked after each failure.
 *
 * @param onFailure is called for the first failure, and for the one that it throws
 * @throws {IntegrationError} `overloaded`, or `internal_error` if the host did not sign the record
 */
export async function repeat<T>(
  ask: () => Promise<T>,
  isOver: () => boolean,
  onFailure: (cause: unknown) => void = () => {},
): Promise<T> {
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    try {
      return await ask()
    } catch (cause) {
      const isFinal = isIntegrationError(cause)
      if (isFinal || pauseMs === FIRST_PAUSE_MS) onFailure(cause)
      if (isFinal) throw cause
      if (isOver()) throw unreachable(cause)
    }
    await pause(pauseMs)
  }
}

export function logStoreFault(logger: Logger, cause: unknown): void {
  const reason = cause instanceof Error ? cause.message : 'unknown'
  const message = isIntegrationError(cause)
    ? 'A record of the delivery store is not used.'
    : 'The delivery store is unreachable.'
  logger('error', message, { reason })
}

export function unreachable(cause?: unknown): IntegrationError {
  const message = 'The delivery store is unreachable, and without it this could happen twice.'
  return new IntegrationError('overloaded', message, { retryAfter: 5, cause })
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    // A process may end before the store is back: then the lease runs out by itself.
    setTimeout(resolve, milliseconds).unref?.()
  })
}
