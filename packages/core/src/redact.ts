/**
 * Removes secrets by value, so that it does not matter on which way one got into a text.
 *
 * @module
 */

const MASK = '[redacted]'
/** Shorter values are words that occur by chance; no provider issues a key that short. */
const SHORTEST_SECRET = 6

/** Knows secrets, and removes them from anything that leaves by a way they should not take. */
export interface Redactor {
  /** Makes a value known as secret. */
  add(value: unknown): void
  text(text: string): string
  /** A copy of plain data without secrets. */
  data<T>(data: T): T
}

/**
 * @param secrets known from the start, for example from the configuration
 */
export function createRedactor(secrets: Iterable<string> = []): Redactor {
  const known = new Set<string>()
  const redactor: Redactor = {
    add(value) {
      if (typeof value !== 'string' || value.length < SHORTEST_SECRET) return
      known.add(value)
      known.add(encodeURIComponent(value))
      known.add(JSON.stringify(value).slice(1, -1))
    },
    text(text) {
      let clean = text
      for (const value of known) clean = clean.replaceAll(value, MASK)
      return clean
    },
    data(data) {
      // Through JSON on purpose: it is what the sinks write, and so the text in which a secret would show.
      return known.size === 0 || data === undefined ? data : JSON.parse(redactor.text(JSON.stringify(data)))
    },
  }
  for (const value of secrets) redactor.add(value)
  return redactor
}
