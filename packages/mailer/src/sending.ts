/**
 * Sends a batch: cuts calls, makes several at a time, and yields their outcomes in order.
 *
 * @module
 */
import { IntegrationError } from '@org/core/errors'
import { createCaller } from './caller.ts'
import { createCutter } from './calls.ts'
import { createEnding } from './ending.ts'
import { openJournal } from './journal.ts'
import { toMailError } from './mail-error.ts'
import { createPace } from './pace.ts'
import type { BatchRunOptions, Call, CallOutcome } from './run.ts'

/** How a batch ended. */
export interface BatchEnd {
  /** The error that the caller’s own code threw: the source, `resend` or `onProgress`. */
  thrown?: { reason: unknown } | undefined
  /** Why the batch ended early; absent if every message had its turn. */
  ended?: IntegrationError | undefined
  /** Whether there are messages without a result. */
  isUnread?: boolean
}

/**
 * Sends the messages of a batch, several calls at a time, and yields the outcomes in order. A failed call affects only
 * its own messages, except that a refused token ends the batch, and a rate limit pauses it.
 */
export async function* runBatch(
  items: Iterable<unknown> | AsyncIterable<unknown>,
  options: BatchRunOptions,
): AsyncGenerator<CallOutcome, BatchEnd> {
  const { concurrency, callBytes, takeMemory, journal, onProgress } = options
  const ending = createEnding(options)
  const { signal } = ending
  const records = journal && openJournal(journal, ending)
  const pace = createPace(options, signal)
  const cutter = createCutter(items, { ...options, ending, records })
  const make = createCaller(options, { pace, ending, records })
  const progress = { done: 0, sent: 0, failed: 0, unknown: 0 }
  const inFlight: Promise<CallOutcome>[] = []
  let cutting: ReturnType<typeof cut> | undefined
  let thrown: BatchEnd['thrown']
  let isOver = false
  /** The journal failed, so the messages that were read last have no result. */
  let isCutOff = false

  function report({ results }: CallOutcome): void {
    for (const { status } of results) progress[status] += 1
    progress.done += results.length
    const fail = (reason: unknown) => {
      thrown ??= { reason }
      ending.end(
        new IntegrationError('aborted', 'onProgress threw before this mail was sent.', { cause: reason }),
      )
    }
    try {
      const returned: unknown = onProgress?.({ ...progress })
      if (returned instanceof Promise) returned.catch(fail)
    } catch (reason) {
      fail(reason)
    }
  }

  async function cut(): Promise<{ call: Call; free: (part?: number) => void } | undefined> {
    // The messages that are left when the batch ends need no memory.
    const free = (await takeMemory?.(callBytes, signal).catch(() => undefined)) ?? (() => {})
    try {
      const call = await cutter.next()
      if (call) free(callBytes - call.bytes)
      else free()
      return call && { call, free }
    } catch (error) {
      free()
      isCutOff = true
      ending.end(toMailError(error))
      return undefined
    }
  }

  try {
    while (!isOver || inFlight.length > 0) {
      if (!isOver && pace.hasRoom() && inFlight.length < 2 * concurrency) cutting ??= cut()
      const [first] = inFlight
      const next = await Promise.race([
        ...(first ? [first.then((outcome) => ({ outcome }))] : []),
        ...(cutting ? [cutting.then((cut) => ({ cut }))] : []),
        ...(!isOver && !cutting ? [pace.hasChanged().then(() => undefined)] : []),
      ])
      if (next === undefined) continue
      if ('outcome' in next) {
        inFlight.shift()
        report(next.outcome)
        yield next.outcome
        continue
      }
      cutting = undefined
      if (!next.cut) {
        isOver = true
        continue
      }
      const { call, free } = next.cut
      inFlight.push(make(call).finally(() => free()))
    }
    return { thrown: thrown ?? cutter.thrown, ended: ending.reason, isUnread: isCutOff || cutter.isUnread }
  } finally {
    // The consumer may leave early. Nothing goes on behind its back.
    cutter.close()
    void cutting?.then((cut) => cut?.free())
    await Promise.all(inFlight)
    ending.close()
  }
}
