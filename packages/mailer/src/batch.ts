/**
 * A batch of any size as calls that the provider accepts, and the result of each message in the order given.
 *
 * @module
 */
import { IntegrationError, isIntegrationError } from '@org/core/errors'
import { unknownOutcome } from '@org/core/http'
import { refusalError } from './errors.ts'
import { type BatchJournal, recall, toRecord } from './journal.ts'
import type { ComposedMessage } from './message.ts'
import { readRejected, type SendAnswer } from './wire.ts'

/** What came of one message of a batch. */
export interface MessageResult {
  /** Where the message stood in the batch, from 0. */
  index: number
  /** The recipients; `null` where the message was not fit to be sent. */
  to: string | null
  /** `unknown`: the call that it was in broke, and it may have been sent. */
  status: 'sent' | 'failed' | 'unknown'
  messageId: string | null
  /** ISO 8601, UTC. */
  submittedAt: string | null
  /** Recipients that the provider left out, because they are inactive. */
  rejected: string[]
  /** Why it was not sent, or why that is not known. */
  error: { code: string; message: string; retryable: boolean } | null
}

/** What came of a batch. */
export interface BatchResult {
  sent: number
  failed: number
  unknown: number
  /** One for each message, in the order given. */
  results: MessageResult[]
}

/** A message on its way, with its place in the batch. */
export interface PlacedMessage extends ComposedMessage {
  index: number
}

/** What the provider accepts in one call. */
const MAX_MESSAGES = 500
const MAX_BYTES = 50_000_000

/** Cuts messages into calls that are within the provider's limits, by count and by size. */
export function cutIntoCalls(messages: readonly PlacedMessage[]): PlacedMessage[][] {
  const calls: PlacedMessage[][] = []
  let call: PlacedMessage[] = []
  let bytes = 2
  for (const message of messages) {
    const full = call.length === MAX_MESSAGES || (call.length > 0 && bytes + message.bytes + 1 > MAX_BYTES)
    if (full) {
      calls.push(call)
      call = []
      bytes = 2
    }
    call.push(message)
    bytes += message.bytes + 1
  }
  if (call.length > 0) calls.push(call)
  return calls
}

/** The result of one message that the provider answered for. */
function answeredResult({ index, to, recipients }: PlacedMessage, answer: SendAnswer): MessageResult {
  if (!answer.accepted) return failedResult(index, to, refusalError(answer.refusal))
  return {
    index,
    to: answer.to || to,
    status: 'sent',
    messageId: answer.messageId,
    submittedAt: answer.submittedAt,
    rejected: readRejected(answer.message, recipients),
    error: null,
  }
}

/** The result of a message that did not leave, or of which that is not known. */
export function failedResult(index: number, to: string | null, error: IntegrationError): MessageResult {
  const message = error.hint ? `${error.message} ${error.hint}` : error.message
  return {
    index,
    to,
    status: error.sent === 'unknown' ? 'unknown' : 'failed',
    messageId: null,
    submittedAt: null,
    rejected: [],
    error: { code: error.code, message, retryable: error.retryable },
  }
}

/** How a batch is sent. */
export interface SendOptions {
  /** Sends one call, or throws where the time is over or `signal` has fired. */
  send: (messages: PlacedMessage[]) => Promise<SendAnswer[]>
  /** Calls in flight at a time. */
  concurrency: number
  signal: AbortSignal | undefined
  /** When all calls must be over, in milliseconds since 1970. */
  deadline: number
  /** Set: what was done before is not done again, and what can't be done in time is left for later. */
  journal: BatchJournal | undefined
}

/** The part of the time in which no call begins any more, where the rest can go on later; at most so long. */
const RESERVE_SHARE = 0.25
const LONGEST_RESERVE_MS = 5_000

/**
 * Sends the calls of a batch, several at a time. A call that fails decides about its own messages alone.
 *
 * @throws what the first call threw, where none of them sent anything; and with a journal, where some of it is
 * left for later
 */
export async function sendCalls(
  calls: readonly PlacedMessage[][],
  { send, concurrency, signal, deadline, journal }: SendOptions,
): Promise<MessageResult[]> {
  const results: MessageResult[] = []
  const refusals: unknown[] = []
  const lastStart = deadline - Math.min(LONGEST_RESERVE_MS, (deadline - Date.now()) * RESERVE_SHARE)
  const waiting = calls.entries()
  let left = 0
  let broken: { reason: unknown } | undefined

  async function work(): Promise<void> {
    for (const [number, messages] of waiting) {
      if (broken) return
      const recalled = recall(journal?.read(number), messages)
      if (recalled) results.push(...recalled)
      else if (journal && Date.now() >= lastStart) left += 1
      // What can't be written down ends the batch, once the calls under way are over.
      else await attempt(number, messages).catch((reason: unknown) => (broken ??= { reason }))
    }
  }

  async function attempt(number: number, messages: PlacedMessage[]): Promise<void> {
    await journal?.write(number, 'begun')
    const made = await answerOf(messages)
    await journal?.write(number, made.refusal === undefined ? toRecord(made.results, messages) : undefined)
    results.push(...made.results)
    if (made.refusal !== undefined) refusals.push(made.refusal)
  }

  async function answerOf(
    messages: PlacedMessage[],
  ): Promise<{ results: MessageResult[]; refusal?: unknown }> {
    try {
      const answers = await send(messages)
      const answered = messages.flatMap((message, at) =>
        answers[at] ? answeredResult(message, answers[at]) : [],
      )
      return { results: answered }
    } catch (error) {
      const known = isIntegrationError(error) ? error : endedByCaller(error, signal)
      const failed = messages.map(({ index, to }) => failedResult(index, to, known))
      return known.sent === 'no' ? { results: failed, refusal: error } : { results: failed }
    }
  }

  await Promise.all(Array.from({ length: Math.max(1, Math.min(concurrency, calls.length)) }, work))
  if (broken) throw broken.reason
  if (refusals.length > 0 && refusals.length === calls.length) throw refusals[0]
  const passing = refusals.find((refusal) => isIntegrationError(refusal) && refusal.retryable)
  if (journal && (left > 0 || passing !== undefined))
    throw notFinished(calls.length, left + refusals.length, passing)
  return results
}

function notFinished(calls: number, left: number, cause: unknown): IntegrationError {
  const retryAfter = isIntegrationError(cause) ? cause.retryAfter : undefined
  return new IntegrationError('overloaded', `${calls - left} of the ${calls} calls of this batch are done.`, {
    hint: 'Deliver it again with the same id: it goes on with the rest.',
    retryAfter: retryAfter ?? 1,
    cause,
  })
}

/** A batch's results in the order given, with their totals. */
export function toBatchResult(results: readonly MessageResult[]): BatchResult {
  const count = (status: MessageResult['status']) =>
    results.filter((result) => result.status === status).length
  return {
    sent: count('sent'),
    failed: count('failed'),
    unknown: count('unknown'),
    results: results.toSorted((a, b) => a.index - b.index),
  }
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
