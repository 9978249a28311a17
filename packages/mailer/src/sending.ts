/**
 * The calls of a batch, several under way at a time, and their results in the order given.
 *
 * @module
 */
import { IntegrationError, isIntegrationError } from '@org/core/errors'
import { unknownOutcome } from '@org/core/http'
import { answeredResult, failedResult, type MessageResult } from './batch.ts'
import type { Call } from './calls.ts'
import { type BatchJournal, recall, toRecord } from './journal.ts'
import type { SendAnswer } from './wire.ts'

/** How calls are made. */
export interface SendOptions {
  /** Makes one call, or throws where the time is over or `signal` has fired. */
  send: (call: Call) => Promise<SendAnswer[]>
  /** Calls under way at a time. */
  concurrency: number
  signal: AbortSignal | undefined
  /** When all calls must be over, in milliseconds since 1970. */
  deadline: number
  /** Set: what was done before is not done again, and what can't be done in time is left for later. */
  journal: BatchJournal | undefined
}

/** What came of one call; the results are of all its messages, in the order given. */
export type CallOutcome =
  /** The provider answered, or nobody knows whether it did. */
  | { kind: 'answered'; results: MessageResult[] }
  /** It was refused as a whole: nothing of it was sent. */
  | { kind: 'refused'; results: MessageResult[]; reason: unknown }
  /** None of its messages was fit to be sent. */
  | { kind: 'unfit'; results: MessageResult[] }
  /** It is left for later, because the time is not enough. */
  | { kind: 'left'; results: [] }
  /** It could not be written down, so nothing more may be sent. */
  | { kind: 'broken'; results: []; reason: unknown }

/** The part of the time in which no call begins any more, where the rest can go on later; at most so long. */
const RESERVE_SHARE = 0.25
const LONGEST_RESERVE_MS = 5_000

/**
 * Makes the calls, and passes their outcomes on in order. A call that fails decides about its own messages
 * alone.
 */
export async function* makeCalls(
  calls: AsyncIterable<Call>,
  options: SendOptions,
): AsyncGenerator<CallOutcome> {
  const { concurrency, deadline, journal } = options
  const lastStart = deadline - Math.min(LONGEST_RESERVE_MS, (deadline - Date.now()) * RESERVE_SHARE)
  const underWay: Promise<CallOutcome>[] = []
  let broken = false

  async function make(call: Call): Promise<CallOutcome> {
    const { number, messages, unfit } = call
    if (messages.length === 0) return { kind: 'unfit', results: unfit }
    const recalled = recall(journal?.read(number), messages)
    if (recalled) return { kind: 'answered', results: inOrder(recalled, unfit) }
    if (broken || (journal && Date.now() >= lastStart)) return { kind: 'left', results: [] }
    try {
      await journal?.write(number, 'begun')
      const outcome = await attempt(call, options)
      await journal?.write(
        number,
        outcome.kind === 'refused' ? undefined : toRecord(outcome.results, messages),
      )
      return { ...outcome, results: inOrder(outcome.results, unfit) }
    } catch (reason) {
      broken = true
      return { kind: 'broken', results: [], reason }
    }
  }

  for await (const call of calls) {
    underWay.push(make(call))
    const first = underWay.length >= concurrency ? underWay.shift() : undefined
    if (first) yield await first
  }
  for (const outcome of underWay) yield await outcome
}

async function attempt(
  call: Call,
  { send, signal }: SendOptions,
): Promise<Extract<CallOutcome, { kind: 'answered' | 'refused' }>> {
  const { messages } = call
  try {
    const answers = await send(call)
    const results = messages.flatMap((message, at) =>
      answers[at] ? answeredResult(message, answers[at]) : [],
    )
    return { kind: 'answered', results }
  } catch (reason) {
    const known = isIntegrationError(reason) ? reason : endedByCaller(reason, signal)
    const results = messages.map(({ index, to }) => failedResult(index, to, known))
    return known.sent === 'no' ? { kind: 'refused', results, reason } : { kind: 'answered', results }
  }
}

/**
 * Why a batch as a whole has no result: it can't be written down, nothing of it was sent at all, or, with a
 * journal, some of it is left for later.
 *
 * @returns `undefined` where it has one
 */
export function faultOf(
  outcomes: readonly CallOutcome[],
  hasJournal: boolean,
): { reason: unknown } | undefined {
  const of = <Kind extends CallOutcome['kind']>(kind: Kind) =>
    outcomes.filter((outcome): outcome is Extract<CallOutcome, { kind: Kind }> => outcome.kind === kind)
  const [broken] = of('broken')
  if (broken) return broken
  const refused = of('refused')
  const left = of('left').length
  if (refused[0] && left === 0 && of('answered').length === 0) return refused[0]
  const passing = refused.find(({ reason }) => isIntegrationError(reason) && reason.retryable)
  if (!hasJournal || (left === 0 && !passing)) return undefined
  return { reason: notFinished(outcomes.length, left + refused.length, passing?.reason) }
}

function inOrder(results: MessageResult[], unfit: MessageResult[]): MessageResult[] {
  return unfit.length === 0 ? results : [...results, ...unfit].sort((a, b) => a.index - b.index)
}

function notFinished(calls: number, left: number, cause: unknown): IntegrationError {
  const retryAfter = isIntegrationError(cause) ? cause.retryAfter : undefined
  return new IntegrationError('overloaded', `${calls - left} of the ${calls} calls of this batch are done.`, {
    hint: 'Deliver it again with the same id: it goes on with the rest.',
    retryAfter: retryAfter ?? 1,
    cause,
  })
}

// A call that had begun when the caller's signal fired is an IntegrationError already; the bare reason means
// that it had not.
function endedByCaller(error: unknown, signal: AbortSignal | undefined): IntegrationError {
  return signal?.aborted && error === signal.reason
    ? new IntegrationError('provider_timeout', 'Not sent: the batch was ended before its turn came.')
    : unknownOutcome('It is not known whether the mail went out: the call failed in an unforeseen way.', {
        cause: error,
      })
}
