/**
 * The provider refuses a request or a message, with one of its codes and in its words.
 *
 * @see https://postmarkapp.com/developer/api/overview#error-codes
 */
export class Refusal extends Error {
  readonly status: number
  readonly body: { ErrorCode: number; Message: string }

  constructor(code: number, message: string, status = 422) {
    super(message)
    this.status = status
    this.body = { ErrorCode: code, Message: message }
  }
}

/** @throws {Refusal} with code 300 */
export function refuseIf(isInvalid: boolean, message: string): void {
  if (isInvalid) throw new Refusal(300, message)
}

/** The refusal of a field that the provider does not know, or that has the wrong type. */
export function invalidField(path: string): Refusal {
  return new Refusal(403, `Invalid request field(s): '${path}'.`)
}
