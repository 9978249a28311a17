/**
 * The result of each message of a batch, in the order given.
 *
 * @module
 */
import type { IntegrationError } from '@org/core/errors'
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

/** How far a batch is. */
export interface BatchProgress {
  /** Messages that have a result. */
  done: number
  sent: number
  failed: number
  unknown: number
}

/** What is kept of a message while it is on its way. */
export type PlacedMessage = Pick<ComposedMessage, 'to' | 'recipients'> & {
  /** Its place in the batch. */
  index: number
}

/** The result of one message that the provider answered for. */
export function answeredResult({ index, to, recipients }: PlacedMessage, answer: SendAnswer): MessageResult {
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
