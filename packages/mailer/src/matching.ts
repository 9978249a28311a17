/**
 * Which answer belongs to which message of a call.
 *
 * @module
 */
import type { IntegrationError } from '@org/core/errors'
import { unknownOutcome } from '@org/core/http'
import type { PlacedMessage } from './batch.ts'
import { readSendResponse, type SendResponse } from './wire.ts'

type Accepted = Extract<SendResponse, { accepted: true }>
type Recipients = Pick<PlacedMessage, 'to' | 'recipients' | 'toCount'>

/**
 * Matches the answers of a call to its messages. The provider answers in the order of the messages; an answer whose
 * recipient contradicts that is not given to the message at its place.
 *
 * @returns for each message its answer, or `undefined` if there is none that is surely its own; `undefined` if the
 * body is no list
 */
export function matchResponses(
  body: unknown,
  messages: readonly PlacedMessage[],
): (SendResponse | undefined)[] | undefined {
  if (!Array.isArray(body)) return undefined
  const ids = new Set<string>()
  const responses = body.map((item) => {
    const response = readSendResponse(item)
    if (!response?.accepted) return response
    // The provider gives each mail an id of its own.
    const isRepeated = ids.has(response.messageId)
    ids.add(response.messageId)
    return isRepeated ? undefined : response
  })
  const strangers = responses.filter((response, at): response is Accepted => {
    const message = messages[at]
    return response?.accepted === true && (message === undefined || !isAbout(response, message))
  })
  const isShuffled =
    responses.length !== messages.length ||
    strangers.some((response) => messages.some((message) => isAbout(response, message)))
  if (isShuffled) return matchByRecipient(responses, messages)
  const unmatched = new Set<SendResponse>(strangers)
  return responses.map((response) => (response && unmatched.has(response) ? undefined : response))
}

/** Whether an answer names only recipients of the message. An answer that names nobody fits every message. */
export function isAbout({ to }: Pick<Accepted, 'to'>, message: Recipients): boolean {
  if (to === message.to) return true
  const named = addressesIn(to)
  if (named === undefined) return true
  const own = recipientsOf(message)
  return named.every((address) => own.includes(address))
}

/** Only an accepted mail names its recipient, and only a recipient of one message and one answer is certain. */
function matchByRecipient(
  responses: readonly (SendResponse | undefined)[],
  messages: readonly PlacedMessage[],
): (SendResponse | undefined)[] {
  const answers = new Map<string, Accepted | undefined>()
  for (const response of responses) {
    const key = response?.accepted && addressesIn(response.to)?.sort().join()
    if (key) answers.set(key, answers.has(key) ? undefined : response)
  }
  const keys = messages.map((message) => recipientsOf(message).sort().join())
  return keys.map((key, at) => {
    const isAlone = keys.indexOf(key) === at && keys.lastIndexOf(key) === at
    return isAlone ? answers.get(key) : undefined
  })
}

/** The bare addresses of To, in lower case. */
function recipientsOf({ recipients, toCount }: Recipients): string[] {
  return recipients.slice(0, toCount).map((address) => address.toLowerCase())
}

/** The addresses in a To header; `undefined` if there is none, or if the provider writes them in another script. */
function addressesIn(to: string): string[] | undefined {
  const words = to
    .toLowerCase()
    .split(/[\s,;<>"]+/)
    .filter((word) => word.includes('@'))
  return words.length === 0 || words.some((word) => /[^!-~]/.test(word)) ? undefined : words
}

/** The failure of a message without an answer that is surely its own. */
export function unreadable(): IntegrationError {
  return unknownOutcome('It is not known whether the mail was sent: the provider’s answer is unreadable.')
}
