/**
 * Which answer belongs to which message of a call.
 *
 * @module
 */
import type { IntegrationError } from '@org/core/errors'
import { unknownOutcome } from '@org/core/http'
import type { PlacedMessage } from './batch.ts'
import { addressesIn, isAbout, readSendResponse, type SendResponse } from './wire.ts'

/** A call has at most 500 messages. A server of a tenant’s choice may send a million answers. */
const MAX_ANSWERS = 1_000

/**
 * Matches the answers of a call to its messages. The provider answers in the order of the messages. If an answer
 * contradicts that, all are matched by their recipients.
 *
 * @returns for each message its answer, or `undefined` if there is none that is surely its own
 */
export function matchResponses(
  body: unknown,
  messages: readonly PlacedMessage[],
): (SendResponse | undefined)[] {
  if (!Array.isArray(body) || body.length > MAX_ANSWERS) return []
  const ids = new Set<string>()
  // Out of the list, which settled promises hold.
  const responses = body.splice(0).map((item: unknown) => {
    const response = readSendResponse(item)
    if (!response?.accepted) return response
    // The provider gives each mail an id of its own.
    const isRepeated = ids.has(response.messageId)
    ids.add(response.messageId)
    return isRepeated ? undefined : response
  })
  const isInOrder = messages.every((message, at) => {
    const response = responses[at]
    return !response?.accepted || isAbout(response, message)
  })
  if (isInOrder && responses.length === messages.length) return responses
  return matchByRecipient(responses, messages)
}

/** Only an accepted mail names its recipient, and only a recipient of one message and one answer is certain. */
function matchByRecipient(
  responses: readonly (SendResponse | undefined)[],
  messages: readonly PlacedMessage[],
): (SendResponse | undefined)[] {
  const answers = new Map<string, SendResponse | undefined>()
  for (const response of responses) {
    const key = response?.accepted && addressesIn(response.to)?.sort().join()
    if (key) answers.set(key, answers.has(key) ? undefined : response)
  }
  const keys = messages.map(({ to }) => addressesIn(to)?.sort().join() ?? '')
  const counts = new Map<string, number>()
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1)
  return keys.map((key) => (counts.get(key) === 1 ? answers.get(key) : undefined))
}

/** The failure of a message without an answer that is surely its own. */
export function unreadable(): IntegrationError {
  return unknownOutcome('It is not known whether the mail was sent: the provider’s answer is unreadable.')
}
