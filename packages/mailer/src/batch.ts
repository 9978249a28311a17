/**
 * Makes the results of a batch.
 *
 * @module
 */
import type { IntegrationError } from '@org/core/errors'
import type { ComposedMessage } from './compose.ts'
import { refusalError } from './errors.ts'
import { isMailError } from './mail-error.ts'
import type { MessageResult, UnsentResult } from './result.ts'
import { findNamed, type SendResponse } from './wire.ts'

/** The parts of a message that are kept while its call is in flight. */
export interface PlacedMessage extends Pick<ComposedMessage, 'to' | 'recipients'> {
  /** The message’s position in the batch. */
  index: number
  /** The message’s own key, or its key in the journal; empty without both. */
  key: string
}

/** The result of a message that the provider accepted or refused. */
export function toResult(message: PlacedMessage, response: SendResponse): MessageResult {
  const { to, recipients } = message
  if (!response.accepted) return failedResult(message, refusalError(response.refusal, {}, recipients))
  return {
    ...placeOf(message),
    to: response.to || to,
    status: 'sent',
    messageId: response.messageId,
    submittedAt: response.submittedAt,
    rejected: findNamed(response.message, recipients),
    error: null,
  }
}

/** The part of a result that names the message. */
export function placeOf({ index, key }: Pick<PlacedMessage, 'index' | 'key'>) {
  return { index, key: key || undefined }
}

/** The result of a message that was not sent, or whose outcome is unknown. */
export function failedResult(
  message: Pick<PlacedMessage, 'index' | 'key'> & { to: string | null },
  error: IntegrationError,
): UnsentResult {
  const { code, retryable, retryAfter, provider, hint } = error
  return {
    ...placeOf(message),
    to: message.to,
    status: error.effect === 'unknown' ? 'unknown' : 'failed',
    messageId: null,
    submittedAt: null,
    rejected: isMailError(error) ? [...error.rejected] : [],
    error: {
      code,
      message: hint ? `${error.message} ${hint}` : error.message,
      retryable,
      ...(retryAfter !== undefined && { retryAfter }),
      ...(provider?.code && { provider: { code: provider.code, message: provider.message ?? '' } }),
    },
  }
}

/** Messages, or their results, by position. */
export function inOrder<Item extends { index: number }>(items: readonly Item[]): Item[] {
  return items.toSorted((a, b) => a.index - b.index)
}
