/**
 * Makes the calls of a batch.
 *
 * @module
 */
import { IntegrationError } from '@org/core/errors'
import { createCaller } from './caller.ts'
import { type Call, createCutter, MAX_CALL_BYTES } from './calls.ts'
import { createEnding } from './ending.ts'
import { createFlow } from './flow.ts'
import type { BatchJournal } from './journal.ts'
import type { MessageDefaults } from './message.ts'
import type { BatchProgress, MessageResult } from './result.ts'
import { openSource } from './source.ts'

/** Options of {@link runBatch}. */
export interface BatchRunOptions {
  /** Makes one call, and returns the provider’s body. */
  send: (call: Call, limits: { signal: AbortSignal | undefined; deadline: number }) => Promise<unknown>
  /** Makes a message of an item; without it, the item is the message. Throws an `IntegrationError` if it cannot. */
  parse: ((item: unknown) => unknown) | undefined
  defaults: MessageDefaults
  /** The most calls in flight at a time. */
  concurrency: number
  /** Longest time for one call, from when it leaves, in milliseconds. */
  timeoutMs: number
  signal: AbortSignal | undefined
  /** When all calls must be over, in milliseconds since 1970. */
  deadline: number
  /** With a journal, messages that an earlier attempt recorded are not sent again. */
  journal: BatchJournal | undefined
  /** Is called after each call. What it throws ends the batch. */
  onProgress: ((progress: BatchProgress) => void) | undefined
  wait: (milliseconds: number, signal: AbortSignal) => Promise<void>
}

/** The outcome of one call, with the results of its messages in the order given. */
export type CallOutcome =
  /** The provider answered, or may have received the call. */
  | { kind: 'settled'; results: MessageResult[] }
  /** The call had no message to send. */
  | { kind: 'empty'; results: MessageResult[] }
  /** Nothing was sent: the call did not begin, or the provider refused it as a whole. */
  | { kind: 'unsent'; results: MessageResult[]; reason: IntegrationError }

/** How a batch ended. */
export interface BatchEnd {
  /** What the caller’s own code threw: the source, the journal or `onProgress`. */
  thrown?: { reason: unknown } | undefined
  /** Why the batch ended early; absent if every message had its turn. */
  ended?: IntegrationError | undefined
  /** Whether the source has messages that were not read. */
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
  const { concurrency, wait, onProgress } = options
  const ending = createEnding(options)
  const source = openSource(items)
  ending.signal.addEventListener('abort', source.interrupt)
  const flow = createFlow({ concurrency, callBytes: MAX_CALL_BYTES, wait, signal: ending.signal })
  const cutter = createCutter({ ...options, source, ending })
  const make = createCaller(options, flow, ending)
  const progress = { done: 0, sent: 0, failed: 0, unknown: 0 }
  const inFlight: Promise<CallOutcome>[] = []
  let cutting: Promise<Call | undefined> | undefined
  let thrown: BatchEnd['thrown']
  let isOver = false

  function report({ results }: CallOutcome): void {
    for (const { status } of results) progress[status] += 1
    progress.done += results.length
    try {
      onProgress?.({ ...progress })
    } catch (reason) {
      thrown ??= { reason }
      ending.end(
        new IntegrationError('aborted', 'onProgress threw before this mail was sent.', { cause: reason }),
      )
    }
  }

  function cut(): Promise<Call | undefined> {
    return cutter.next().catch((reason: unknown) => {
      thrown ??= { reason }
      return undefined
    })
  }

  try {
    while (!isOver || inFlight.length > 0) {
      if (!isOver && flow.hasRoom() && inFlight.length < 2 * concurrency) cutting ??= cut()
      const [first] = inFlight
      const next = await Promise.race([
        ...(first ? [first.then((outcome) => ({ outcome }))] : []),
        ...(cutting ? [cutting.then((call) => ({ call }))] : []),
        ...(!isOver && !cutting ? [flow.hasChanged().then(() => undefined)] : []),
      ])
      if (next === undefined) continue
      if ('outcome' in next) {
        inFlight.shift()
        report(next.outcome)
        yield next.outcome
        continue
      }
      cutting = undefined
      if (next.call) inFlight.push(make(next.call))
      else isOver = true
    }
    return { thrown: thrown ?? cutter.thrown, ended: ending.reason, isUnread: cutter.isUnread }
  } finally {
    // The consumer may leave early. Nothing goes on behind its back.
    source.close()
    await Promise.all(inFlight)
    ending.close()
  }
}
