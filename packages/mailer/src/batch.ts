/**
 * A batch of any size as calls that the provider accepts, and the result of each message in the order given.
 *
 * @module
 */
import { IntegrationError, isIntegrationError } from '@org/core/errors'
import { unknownOutcome } from '@org/core/http'
import { refusalError } from './errors.ts'
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

/**
 * Sends the calls of a batch, several at a time. A call that fails decides about its own messages alone.
 *
 * @param send sends one call, or throws where the time is over or `signal` has fired
 * @throws what the first call threw, where none of them sent anything
 */
export async function sendCalls(
  calls: readonly PlacedMessage[][],
  send: (messages: PlacedMessage[]) => Promise<SendAnswer[]>,
  { concurrency, signal }: { concurrency: number; signal: AbortSignal | undefined },
): Promise<MessageResult[]> {
  const results: MessageResult[] = []
  const refusals: unknown[] = []
  const waiting = calls[Symbol.iterator]()

  async function work(): Promise<void> {
    for (const messages of waiting) {
      try {
        const answers = await send(messages)
        results.push(
          ...messages.flatMap((message, at) => (answers[at] ? answeredResult(message, answers[at]) : [])),
        )
      } catch (error) {
        const known = isIntegrationError(error) ? error : endedByCaller(error, signal)
        if (known.sent === 'no') refusals.push(error)
        results.push(...messages.map(({ index, to }) => failedResult(index, to, known)))
      }
    }
  }

  await Promise.all(Array.from({ length: Math.max(1, Math.min(concurrency, calls.length)) }, work))
  if (refusals.length > 0 && refusals.length === calls.length) throw refusals[0]
  return results
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
