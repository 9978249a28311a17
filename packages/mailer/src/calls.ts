/**
 * Messages, however many and from wherever, as calls that the provider accepts.
 *
 * @module
 */
import { isIntegrationError } from '@org/core/errors'
import { failedResult, type MessageResult, type PlacedMessage } from './batch.ts'
import { type ComposedMessage, composeMessage, type Message, type MessageDefaults } from './message.ts'

/** What goes to the provider at once, and what of the messages in between must not leave. */
export interface Call {
  /** Counts the calls of a batch, from 0. */
  number: number
  messages: PlacedMessage[]
  /** All of them, as the JSON that leaves: once, because a call under way is what a batch holds in memory. */
  jsonText: string
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
  let draft = new Draft()
  let number = 0
  let index = 0
  for await (const message of messages) {
    const composed = compose(message, defaults, index)
    if (draft.isFullFor(composed)) {
      yield draft.toCall(number)
      draft = new Draft()
      number += 1
    }
    draft.add(composed, index)
    index += 1
  }
  if (!draft.isEmpty()) yield draft.toCall(number)
}

/** A call that messages are still added to. */
class Draft {
  readonly #messages: PlacedMessage[] = []
  readonly #unfit: MessageResult[] = []
  readonly #texts: string[] = []
  #bytes = 2

  isEmpty(): boolean {
    return this.#messages.length === 0 && this.#unfit.length === 0
  }

  isFullFor(composed: ComposedMessage | MessageResult): boolean {
    if (this.#unfit.length === MAX_UNFIT) return true
    if ('error' in composed) return false
    const { length } = this.#messages
    return length === MAX_MESSAGES || (length > 0 && this.#bytes + composed.bytes + 1 > MAX_BYTES)
  }

  add(composed: ComposedMessage | MessageResult, index: number): void {
    if ('error' in composed) {
      this.#unfit.push(composed)
      return
    }
    this.#messages.push({ index, to: composed.to, recipients: composed.recipients })
    this.#texts.push(composed.json)
    this.#bytes += composed.bytes + 1
  }

  toCall(number: number): Call {
    return {
      number,
      messages: this.#messages,
      unfit: this.#unfit,
      jsonText: `[${this.#texts.join(',')}]`,
    }
  }
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
