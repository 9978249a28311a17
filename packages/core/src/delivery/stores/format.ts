/** The format of the records. A store of another one is refused. */
export const FORMAT = 4
/** The first characters of a text. No two texts of one key have the same ones. */
export const MARK_LENGTH = 24

/** A store has another format. */
export class FormatError extends Error {
  override readonly name = 'FormatError'

  constructor(found: number | string) {
    super(
      `it has format ${found}, and this host reads format ${FORMAT}: drain the host that wrote it, then empty or replace the store (docs/operations.md)`,
    )
  }
}
