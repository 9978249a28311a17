import type { FieldError } from '@org/core/errors'

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
