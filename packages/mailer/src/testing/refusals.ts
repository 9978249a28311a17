/**
 * The provider's refusals: its codes, in its words.
 *
 * @module
 * @see https://postmarkapp.com/developer/api/overview#error-codes
 */

/** Why a request or a message was refused. */
export interface Refusal {
  ErrorCode: number
  Message: string
}

/** The codes of the provider that are refused with; most of them as HTTP 422. */
export const codes = {
  badToken: 10,
  invalidRequest: 300,
  senderNotFound: 400,
  senderNotConfirmed: 401,
  invalidJson: 402,
  invalidField: 403,
  noCredits: 405,
  inactiveRecipient: 406,
  jsonRequired: 409,
  tooManyMessages: 410,
  forbiddenAttachment: 411,
  accountPending: 412,
  accountMayNotSend: 413,
  streamNotFound: 1226,
  unknownStream: 1235,
  streamCannotSend: 1236,
} as const

/** Makes a refusal. */
export function refuse(code: keyof typeof codes, message: string): Refusal {
  return { ErrorCode: codes[code], Message: message }
}

/** A field that the provider does not know, or that has the wrong type. */
export function invalidField(path: string): Refusal {
  return refuse('invalidField', `Invalid request field(s): '${path}'.`)
}

const whyInactive =
  'Inactive recipients are ones that have generated a hard bounce, a spam complaint, or a manual suppression.'

/** All recipients are inactive. The words of a batch differ from those of a single message. */
export function allInactive(addresses: readonly string[], inBatch: boolean): Refusal {
  const whom = inBatch ? 'a recipient that has' : 'recipient(s) that have'
  const found = `Found inactive addresses: ${addresses.join(', ')}. ${whyInactive}`
  return refuse(
    'inactiveRecipient',
    `You tried to send to ${whom} been marked as inactive. ${found}${inBatch ? ' ' : ''}`,
  )
}

/** Some recipients are inactive: a success, that names them in its words alone. */
export function someInactive(addresses: readonly string[], wording: 'short' | 'long'): string {
  const found = `Message OK, but will not deliver to these inactive addresses: ${addresses.join(', ')}`
  return wording === 'short' ? found : `${found}. ${whyInactive}`
}
