/**
 * Which answer belongs to which message of a call.
 *
 * @module
 */
import type { IntegrationError } from '@org/core/errors'
import { unknownOutcome } from '@org/core/http'
import type { PlacedMessage } from './batch.ts'
import { addressesIn, isAbout, readSendResponse, recipientsOf, type SendResponse } from './wire.ts'

/** A call has at most 500 messages. A server of a tenant’s choice may send a million answers. */
const MAX_ANSWERS = 1_000

type Accepted = Extract<SendResponse, { accepted: true }>

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
  if (!Array.isArray(body) || body.length > MAX_ANSWERS) return undefined
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
  const strangers: Accepted[] = []
  for (let at = 0; at < responses.length; at += 1) {
    const [response, message] = [responses[at], messages[at]]
    if (!response?.accepted || response.to === message?.to) continue
    if (message === undefined || !isAbout(response, message)) strangers.push(response)
  }
  const isShuffled = responses.length !== messages.length || isAboutAny(strangers, messages)
  if (isShuffled) return matchByRecipient(responses, messages)
  if (strangers.length === 0) return responses
  const unmatched = new Set<SendResponse>(strangers)
  return responses.map((response) => (response && unmatched.has(response) ? undefined : response))
}

/** Whether an answer is about any of the messages. Each text is read once: a server may send megabytes of them. */
function isAboutAny(responses: readonly Accepted[], messages: readonly PlacedMessage[]): boolean {
  if (responses.length === 0) return false
  const headers = new Set(messages.map(({ to }) => to))
  const byAddress = new Map<string, Set<string>[]>()
  for (const message of messages) {
    const recipients = new Set(recipientsOf(message))
    for (const address of recipients) {
      const others = byAddress.get(address)
      if (others) others.push(recipients)
      else byAddress.set(address, [recipients])
    }
  }
  for (const { to } of responses) {
    const named = addressesIn(to)
    if (headers.has(to) || named === undefined) return true
    const [rarest] = named.map((address) => byAddress.get(address) ?? []).sort((a, b) => a.length - b.length)
    if (rarest?.some((recipients) => named.every((address) => recipients.has(address)))) return true
  }
  return false
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
  const counts = new Map<string, number>()
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1)
  return keys.map((key) => (counts.get(key) === 1 ? answers.get(key) : undefined))
}

/** The failure of a message without an answer that is surely its own. */
export function unreadable(): IntegrationError {
  return unknownOutcome('It is not known whether the mail was sent: the provider’s answer is unreadable.')
}
