/**
 * Messages, however many and from wherever, as calls that the provider accepts.
 *
 * @module
 */
import { isIntegrationError } from '@org/core/errors'
import { failedResult, type MessageResult, type PlacedMessage } from './batch.ts'
import { composeMessage, type Message, type MessageDefaults } from './message.ts'

/** What goes to the provider at once, and what of the messages in between must not leave. */
export interface Call {
  /** Counts the calls of a batch, from 0. */
  number: number
  messages: PlacedMessage[]
  unfit: MessageResult[]
}

/** What the provider accepts in one call. */
const MAX_MESSAGES = 500
const MAX_BYTES = 50_000_000
/** Messages that may be unfit in a row before their results are passed on. */
const MAX_UNFIT = 500

/**
 * Cuts messages into calls, by count and by size, and reads no further than the next call needs. The same
 * messages are always cut in the same way.
 */
export async function* cutIntoCalls(
  messages: Iterable<Message> | AsyncIterable<Message>,
  defaults: MessageDefaults,
): AsyncGenerator<Call> {
  let call: Call = { number: 0, messages: [], unfit: [] }
  let bytes = 2
  let index = 0
  for await (const message of messages) {
    const placed = compose(message, defaults, index)
    index += 1
    const size = 'error' in placed ? 0 : placed.bytes + 1
    const full =
      call.messages.length + ('error' in placed ? 0 : 1) > MAX_MESSAGES ||
      (call.messages.length > 0 && bytes + size > MAX_BYTES) ||
      call.unfit.length === MAX_UNFIT
    if (full) {
      yield call
      call = { number: call.number + 1, messages: [], unfit: [] }
      bytes = 2
    }
    if ('error' in placed) call.unfit.push(placed)
    else call.messages.push(placed)
    bytes += size
  }
  if (call.messages.length > 0 || call.unfit.length > 0) yield call
}

function compose(message: Message, defaults: MessageDefaults, index: number): PlacedMessage | MessageResult {
  try {
    return { ...composeMessage(message, defaults), index }
  } catch (error) {
    if (!isIntegrationError(error)) throw error
    return failedResult(index, null, error)
  }
}
