/**
 * Sends a batch: cuts calls, makes several at a time, and yields the results in order.
 *
 * @module
 */
import { IntegrationError } from '@org/core/errors'
import { createCaller } from './caller.ts'
import { createCutter } from './calls.ts'
import { createEnding } from './ending.ts'
import { openJournal } from './journal.ts'
import { MailError, toMailError } from './mail-error.ts'
import { createBatchMemory } from './memory.ts'
import { createPace } from './pace.ts'
import type { BatchResult, MessageResult } from './result.ts'
import type { BatchRun, CallOutcome } from './run.ts'

/** The memory of a batch that shares none: the bodies of all calls in flight, in bytes. */
const IN_FLIGHT_BYTES = 64_000_000
/** How a batch with a journal that is not done goes on. */
const REST = {
  hint: 'Send the batch again with the same journal: it sends the rest.',
  stopped: 'overloaded',
  effect: 'unknown',
} as const
/** The hint for another batch of which mails have left. */
const FAILED = 'Send only the messages again whose result is “failed”.'

/**
 * Sends the messages of a batch, several calls at a time, and yields the results of each call, in order. A failed call
 * affects only its own messages, except that a refused token ends the batch, and a rate limit pauses it.
 *
 * @param kept gets the results
 * @throws what the caller’s own code threw; a `MailError` if messages are left, or with `kept` if nothing was sent at all
 */
export async function* sendBatch(
  items: Iterable<unknown> | AsyncIterable<unknown>,
  run: BatchRun,
  kept?: BatchResult,
): AsyncGenerator<MessageResult[], void> {
  const { concurrency, callBytes, journal, onProgress, stop, rest = REST } = run
  const { memory = createBatchMemory(IN_FLIGHT_BYTES), owner = '' } = run
  const ending = createEnding(run)
  const records = journal && openJournal(journal, ending)
  const pace = createPace(run, ending.signal)
  let thrown: { reason: unknown } | undefined
  /** The caller’s own code failed. */
  function fail(cause: unknown): void {
    if (ending.reason) return
    thrown = { reason: cause }
    const text = 'The source of the messages, onProgress or resend threw before this mail was sent.'
    ending.end(new IntegrationError('aborted', text, { cause }))
  }
  const cutter = createCutter(items, { ...run, ending, records, fail })
  const make = createCaller(run, { pace, ending, records })
  const counts = kept ?? { sent: 0, failed: 0, unknown: 0 }
  /** Why the first call that was not made was not. */
  let unsent: IntegrationError | undefined
  const inFlight: Promise<CallOutcome>[] = []
  let cutting: ReturnType<typeof cut> | undefined
  let isOver = false

  async function report(outcome: CallOutcome): Promise<void> {
    unsent ??= outcome.unsent
    for (const result of outcome.results) {
      counts[result.status] += 1
      kept?.results.push(result)
    }
    const { sent, failed, unknown } = counts
    const progress = { done: sent + failed + unknown, sent, failed, unknown }
    await ending.run(() => onProgress?.(progress)).catch(fail)
  }

  async function cut() {
    // The messages that are left when the batch ends need no memory.
    const free = await memory.take(owner, callBytes, ending.signal)
    const call = await cutter.next()
    free(call && callBytes - call.bytes)
    return { call, free }
  }

  /** Why the batch throws, if it does. */
  function failure(): MailError | undefined {
    const mayHaveSent = counts.sent + counts.unknown
    const { reason } = ending
    const left = journal && reason?.retryable ? reason : undefined
    const why = left ?? reason ?? unsent
    if (!why || !(left || cutter.isUnread || (kept && mayHaveSent === 0))) return undefined
    const results = kept?.results
    if (!left && mayHaveSent === 0) return toMailError(why, { results })
    const { code, message, retryAfter, provider, cause } = why
    const text = `The batch ended early, when ${mayHaveSent} mails had left. ${message}`
    const facts = { retryAfter, provider, cause, results }
    // The whole batch must not be sent again: mails have left.
    if (!left) return new MailError(code, text, { ...facts, hint: FAILED, effect: 'unknown' })
    const isOurs = code === 'provider_timeout' || code === 'aborted'
    const ours = stop?.aborted ? rest.stopped : 'overloaded'
    const effect = mayHaveSent > 0 ? rest.effect : 'none'
    const resumable = { ...facts, hint: rest.hint, retryAfter: retryAfter ?? 1, effect, isResumable: true }
    return new MailError(isOurs ? ours : code, text, resumable)
  }

  try {
    while (!isOver || inFlight.length > 0) {
      if (!isOver && pace.hasRoom() && inFlight.length < 2 * concurrency) cutting ??= cut()
      const [first] = inFlight
      const next = await Promise.race([
        ...(first ? [first] : []),
        ...(cutting ? [cutting] : []),
        ...(!isOver && !cutting ? [pace.hasChanged()] : []),
      ])
      if (next === undefined) continue
      if ('results' in next) {
        inFlight.shift()
        await report(next)
        yield next.results
        continue
      }
      cutting = undefined
      const { call, free } = next
      if (call) inFlight.push(make(call).finally(() => free()))
      else isOver = true
    }
    if (thrown) {
      // Not enumerable, so that they stay out of logs. A value that takes no property is thrown without them.
      const results = { value: kept?.results, configurable: true, writable: true }
      if (kept) Reflect.defineProperty(Object(thrown.reason), 'results', results)
      throw thrown.reason
    }
    const error = failure()
    if (error) throw error
  } finally {
    // The consumer may leave early. Nothing goes on behind its back.
    cutter.close()
    void cutting?.then(({ free }) => free())
    await Promise.all(inFlight)
    ending.close()
  }
}
