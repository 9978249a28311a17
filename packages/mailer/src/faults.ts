import { type FieldError, IntegrationError } from '@org/core/errors'

/** A hostile message must not cause an error of megabytes. */
const MOST_REPORTED = 50

/** The faults of a message: no text of the message, only paths and reasons. */
export class Faults {
  readonly reported: FieldError[] = []
  count = 0

  add(path: string, message: string): void {
    this.count += 1
    if (this.count <= MOST_REPORTED) this.reported.push({ path, message })
  }
}

/**
 * The error for a message that must not be sent.
 *
 * @param count of all faults, if not all of them are listed
 */
export function invalidMessage(
  errors: readonly FieldError[],
  { count = errors.length, cause }: { count?: number; cause?: unknown } = {},
): IntegrationError {
  const first = errors[0] ? `${errors[0].path} ${errors[0].message}`.trim() : 'it is invalid'
  const more = count > 1 ? `, and ${count - 1} more` : ''
  const rest = count - errors.length
  const listed = rest > 0 ? [...errors, { path: '', message: `has ${rest} more faults` }] : errors
  const text = `The message can’t be sent: ${first}${more}.`
  return new IntegrationError('invalid_arguments', text, { errors: listed, cause })
}
