import { isIntegrationError } from '@org/core/errors'
import { failedResult, type MessageResult, type PlacedMessage } from './batch.ts'
import {
  type ComposedMessage,
  composeMessage,
  type Message,
  type MessageDefaults,
  type Messages,
} from './message.ts'

/** One call of the provider’s batch endpoint. */
export interface Call {
  /** The call’s position in the batch, from 0. */
  number: number
  messages: PlacedMessage[]
  /** The body: the only copy of the messages, because calls in flight determine the memory of a batch. */
  jsonText: string
  /** The results of the invalid messages between the others; they are not sent. */
  invalid: MessageResult[]
}

/** The provider’s limits of one call. */
const MAX_MESSAGES = 500
const MAX_BYTES = 50_000_000
/** After so many invalid messages a call ends, so that their results are passed on. */
const MAX_INVALID = 500

/**
 * Cuts messages into calls, by count and by size. It reads no further than the next call needs, and cuts the
 * same messages always in the same way.
 */
export async function* cutIntoCalls(messages: Messages, defaults: MessageDefaults): AsyncGenerator<Call> {
  let index = 0
  let draft = emptyDraft(0)
  for await (const message of messages) {
    const composed = compose(message, defaults, index)
    if (isFull(draft, composed)) {
      yield toCall(draft)
      draft = emptyDraft(draft.number + 1)
    }
    if ('error' in composed) draft.invalid.push(composed)
    else {
      draft.messages.push({ index, to: composed.to, recipients: composed.recipients })
      draft.texts.push(composed.json)
      draft.bytes += composed.bytes + 1
    }
    index += 1
  }
  if (draft.messages.length + draft.invalid.length > 0) yield toCall(draft)
}

interface Draft extends Omit<Call, 'jsonText'> {
  texts: string[]
  bytes: number
}

function emptyDraft(number: number): Draft {
  return { number, messages: [], invalid: [], texts: [], bytes: 2 }
}

function toCall({ number, messages, invalid, texts }: Draft): Call {
  return { number, messages, invalid, jsonText: `[${texts.join(',')}]` }
}

function isFull({ messages, invalid, bytes }: Draft, next: ComposedMessage | MessageResult): boolean {
  if (invalid.length === MAX_INVALID) return true
  if ('error' in next || messages.length === 0) return false
  return messages.length === MAX_MESSAGES || bytes + next.bytes + 1 > MAX_BYTES
}

function compose(
  message: Message,
  defaults: MessageDefaults,
  index: number,
): ComposedMessage | MessageResult {
  try {
    return composeMessage(message, defaults)
  } catch (error) {
    if (!isIntegrationError(error)) throw error
    return failedResult(index, null, error)
  }
}
