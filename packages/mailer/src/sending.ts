import { IntegrationError, isIntegrationError } from '@org/core/errors'
import { unknownOutcome } from '@org/core/http'
import { failedResult, type MessageResult, toResult } from './batch.ts'
import type { Call } from './calls.ts'
import { type BatchJournal, restore, toRecord } from './journal.ts'
import type { SendResponse } from './wire.ts'

/** Options of {@link makeCalls}. */
export interface SendOptions {
  /** Makes one call; throws if the time is over or `signal` has fired. */
  send: (call: Call) => Promise<SendResponse[]>
  /** Calls in flight at a time. */
  concurrency: number
  signal: AbortSignal | undefined
  /** When all calls must be over, in milliseconds since 1970. */
  deadline: number
  /** With a journal, recorded calls are not made again, and calls for which the time is too short are postponed. */
  journal: BatchJournal | undefined
}

/** The outcome of one call, with the results of its messages in the order given. */
export type CallOutcome =
  /** The provider answered, or may have received the call. */
  | { kind: 'settled'; results: MessageResult[] }
  /** The call failed as a whole, and sent nothing. */
  | { kind: 'refused'; results: MessageResult[]; reason: unknown }
  /** All messages of the call are invalid. */
  | { kind: 'invalid'; results: MessageResult[] }
  /** The time is too short, and the next attempt makes the call. */
  | { kind: 'postponed'; results: [] }
  /** The journal failed, so nothing more may be sent. */
  | { kind: 'unrecorded'; results: []; reason: unknown }

/** With a journal, no call starts in the last quarter of the time (5 s at most). */
const RESERVE_SHARE = 0.25
const LONGEST_RESERVE_MS = 5_000

/** Makes the calls, several at a time, and yields their outcomes in order. A failed call affects only its own messages. */
export async function* makeCalls(
  calls: AsyncIterable<Call>,
  options: SendOptions,
): AsyncGenerator<CallOutcome> {
  const { concurrency, deadline, journal } = options
  const lastStart = deadline - Math.min(LONGEST_RESERVE_MS, (deadline - Date.now()) * RESERVE_SHARE)
  const inFlight: Promise<CallOutcome>[] = []
  let unrecorded = false

  async function make(call: Call): Promise<CallOutcome> {
    const { number, messages, invalid } = call
    if (messages.length === 0) return { kind: 'invalid', results: invalid }
    const restored = restore(journal?.read(number), messages)
    if (restored) return { kind: 'settled', results: inOrder(restored, invalid) }
    if (unrecorded || (journal && Date.now() >= lastStart)) return { kind: 'postponed', results: [] }
    try {
      await journal?.write(number, 'begun')
      const outcome = await attempt(call, options)
      const record = outcome.kind === 'refused' ? undefined : toRecord(outcome.results, messages)
      await journal?.write(number, record)
      return { ...outcome, results: inOrder(outcome.results, invalid) }
    } catch (reason) {
      unrecorded = true
      return { kind: 'unrecorded', results: [], reason }
    }
  }

  for await (const call of calls) {
    inFlight.push(make(call))
    const first = inFlight.length >= concurrency ? inFlight.shift() : undefined
    if (first) yield await first
  }
  for (const outcome of inFlight) yield await outcome
}

async function attempt(
  call: Call,
  { send, signal }: SendOptions,
): Promise<Extract<CallOutcome, { kind: 'settled' | 'refused' }>> {
  const { messages } = call
  try {
    const responses = await send(call)
    const results = messages.flatMap((message, at) => (responses[at] ? toResult(message, responses[at]) : []))
    return { kind: 'settled', results }
  } catch (reason) {
    const error = isIntegrationError(reason) ? reason : unexpectedError(reason, signal)
    const results = messages.map(({ index, to }) => failedResult(index, to, error))
    return error.effect === 'none' ? { kind: 'refused', results, reason } : { kind: 'settled', results }
  }
}

/**
 * Why a batch has no result: a call could not be recorded, nothing was sent at all, or, with a journal, some
 * calls are left to the next attempt.
 *
 * @returns `undefined` if the batch has a result
 */
export function findFault(
  outcomes: readonly CallOutcome[],
  hasJournal: boolean,
): { reason: unknown } | undefined {
  const unrecorded = outcomes.find(({ kind }) => kind === 'unrecorded')
  if (unrecorded?.kind === 'unrecorded') return unrecorded
  const refused = outcomes.filter((outcome) => outcome.kind === 'refused')
  const postponed = outcomes.filter(({ kind }) => kind === 'postponed').length
  if (refused[0] && postponed === 0 && !outcomes.some(({ kind }) => kind === 'settled')) return refused[0]
  const retryable = refused.find(({ reason }) => isIntegrationError(reason) && reason.retryable)
  if (!hasJournal || (postponed === 0 && !retryable)) return undefined
  return { reason: notFinished(outcomes.length, postponed + refused.length, retryable?.reason) }
}

function inOrder(results: MessageResult[], invalid: MessageResult[]): MessageResult[] {
  return invalid.length === 0 ? results : [...results, ...invalid].sort((a, b) => a.index - b.index)
}

function notFinished(calls: number, left: number, cause: unknown): IntegrationError {
  const retryAfter = isIntegrationError(cause) ? cause.retryAfter : undefined
  return new IntegrationError('overloaded', `${calls - left} of the ${calls} calls of this batch are done.`, {
    hint: 'Deliver the event again with the same id to send the rest.',
    retryAfter: retryAfter ?? 1,
    cause,
  })
}

// If the signal fires during a call, the client throws an IntegrationError. The signal’s bare reason means
// that the call had not begun.
function unexpectedError(error: unknown, signal: AbortSignal | undefined): IntegrationError {
  return signal?.aborted && error === signal.reason
    ? new IntegrationError('provider_timeout', 'The batch was ended before this mail was sent.')
    : unknownOutcome('It is not known whether the mail was sent: the call failed unexpectedly.', {
        cause: error,
      })
}
