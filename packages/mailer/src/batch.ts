import type { IntegrationError } from '@org/core/errors'
import { refusalError } from './errors.ts'
import type { ComposedMessage } from './message.ts'
import { readRemark, type SendResponse } from './wire.ts'

/** The result of one message of a batch. */
export interface MessageResult {
  /** The message’s position in the batch, from 0. */
  index: number
  /** The recipients; `null` if the message was invalid. */
  to: string | null
  /** `unknown`: the call that contained the message broke, and the mail may have been sent. */
  status: 'sent' | 'failed' | 'unknown'
  messageId: string | null
  /** ISO 8601, UTC. */
  submittedAt: string | null
  /** Recipients that the provider left out because they are inactive. */
  rejected: string[]
  /** Why the mail was not sent, or why its outcome is unknown. */
  error: { code: string; message: string; retryable: boolean } | null
}

/** The result of a batch. */
export interface BatchResult {
  sent: number
  failed: number
  unknown: number
  /** One result for each message, in the order given. */
  results: MessageResult[]
}

/** The progress of a batch. */
export interface BatchProgress extends Omit<BatchResult, 'results'> {
  /** Messages that have a result. */
  done: number
}

/** The parts of a message that are kept while its call is in flight. */
export type PlacedMessage = Pick<ComposedMessage, 'to' | 'recipients'> & {
  /** The message’s position in the batch. */
  index: number
}

/** The result of a message that the provider accepted or refused. */
export function toResult({ index, to, recipients }: PlacedMessage, response: SendResponse): MessageResult {
  if (!response.accepted) return failedResult(index, to, refusalError(response.refusal))
  return {
    index,
    to: response.to || to,
    status: 'sent',
    messageId: response.messageId,
    submittedAt: response.submittedAt,
    rejected: readRemark(response.message, recipients).rejected,
    error: null,
  }
}

/** The result of a message that was not sent, or whose outcome is unknown. */
export function failedResult(index: number, to: string | null, error: IntegrationError): MessageResult {
  const message = error.hint ? `${error.message} ${error.hint}` : error.message
  return {
    index,
    to,
    status: error.effect === 'unknown' ? 'unknown' : 'failed',
    messageId: null,
    submittedAt: null,
    rejected: [],
    error: { code: error.code, message, retryable: error.retryable },
  }
}

/** Sorts the results, and counts them by status. */
export function toBatchResult(results: readonly MessageResult[]): BatchResult {
  const counts = { sent: 0, failed: 0, unknown: 0 }
  for (const { status } of results) counts[status] += 1
  return { ...counts, results: results.toSorted((a, b) => a.index - b.index) }
}
