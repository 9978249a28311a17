/** The provider’s error codes. */
const codes = {
  badToken: 10,
  invalidRequest: 300,
  senderNotFound: 400,
  invalidJson: 402,
  invalidField: 403,
  inactiveRecipient: 406,
  jsonRequired: 409,
  tooManyMessages: 410,
  forbiddenAttachment: 411,
  unknownStream: 1235,
} as const

/**
 * The provider refuses a request or a message, with one of its codes and in its words.
 *
 * @see https://postmarkapp.com/developer/api/overview#error-codes
 */
export class Refusal extends Error {
  readonly status: number
  readonly body: { ErrorCode: number; Message: string }

  constructor(reason: keyof typeof codes, message: string, status = 422) {
    super(message)
    this.status = status
    this.body = { ErrorCode: codes[reason], Message: message }
  }
}

/** @throws {Refusal} with code 300 */
export function refuseIf(isInvalid: boolean, message: string): void {
  if (isInvalid) throw new Refusal('invalidRequest', message)
}

/** The body of a refusal that a fault names by its status alone. */
export function unexplained(status: number): Refusal['body'] {
  return new Refusal(status === 401 ? 'badToken' : 'invalidRequest', 'Refused.').body
}

/** The refusal of a field that the provider does not know, or that has the wrong type. */
export function invalidField(path: string): Refusal {
  return new Refusal('invalidField', `Invalid request field(s): '${path}'.`)
}
