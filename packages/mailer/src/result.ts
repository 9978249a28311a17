/**
 * The results of a batch, message by message.
 *
 * @module
 */
import type { ErrorCode } from '@org/core/errors'

/** The fields of every {@link MessageResult}. */
interface AnyResult {
  /** The message’s position in the batch, from 0. */
  index: number
  /** The message’s `key`; with a journal and without a `key`, the key that the journal knows the message by. */
  key?: string | undefined
  /** Recipients that the provider left out because they are inactive. */
  rejected: string[]
}

/** The result of a message that the provider accepted. */
export interface SentResult extends AnyResult {
  status: 'sent'
  /** The recipients, as the provider names them. */
  to: string
  /** The provider’s id of the mail. */
  messageId: string
  /** When the provider accepted the mail: ISO 8601, UTC. */
  submittedAt: string
  error: null
}

/** The result of a message that was not sent (`failed`), or that may have been sent (`unknown`). */
export interface UnsentResult extends AnyResult {
  /**
   * `failed`: the mail was not sent. `unknown`: the call with the message broke, or its answer was unreadable, and
   * the mail may have been sent.
   */
  status: 'failed' | 'unknown'
  /** The recipients; `null` if the message is invalid, or was not read any more. */
  to: string | null
  messageId: null
  submittedAt: null
  /** Why the mail was not sent, or why its outcome is unknown. */
  error: MessageError
}

/** Why a message was not sent, or why its outcome is unknown. It contains no address and no text of the message. */
export type MessageError = {
  /** The cause, as a word for programs. */
  code: ErrorCode
  /** The cause, and what to do about it. */
  message: string
  /** Whether the same message may be sent again without the risk of a second mail. */
  retryable: boolean
  /** Seconds to wait before the message is sent again, if the provider said so. */
  retryAfter?: number
  /** The provider’s own code and words, if it refused the message. Addresses are masked. */
  provider?: { code: string; message: string }
}

/** The result of one message of a batch; `status` tells which. */
export type MessageResult = SentResult | UnsentResult

/** The result of a batch. */
export interface BatchResult {
  /** How many messages the provider accepted. */
  sent: number
  /** How many messages were not sent. */
  failed: number
  /** How many messages may have been sent. */
  unknown: number
  /** One result for each message, in the order given. */
  results: MessageResult[]
}

/** The progress of a batch. */
export interface BatchProgress extends Omit<BatchResult, 'results'> {
  /** How many messages have a result. */
  done: number
}
