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
  let longestFirst: string[] = []
  const redactor: Redactor = {
    add(value) {
      if (typeof value !== 'string' || value.length < SHORTEST_SECRET) return
      known.add(value)
      known.add(JSON.stringify(value).slice(1, -1))
      // Half a character can't be encoded, and so can't be on its way in a URL either.
      if (!/\p{Surrogate}/u.test(value)) known.add(encodeURIComponent(value))
      longestFirst = [...known].sort((a, b) => b.length - a.length)
    },
    text(text) {
      let clean = text
      // Otherwise the end of a long secret would stay where its beginning is a secret too.
      for (const value of longestFirst) clean = clean.replaceAll(value, MASK)
      return clean
    },
    data(data) {
      if (known.size === 0 || data === undefined) return data
      // Text by text and not as a whole: a secret may look like a number, or like the punctuation of JSON.
      return JSON.parse(JSON.stringify(data), (_, value: unknown) => {
        if (typeof value === 'string') return redactor.text(value)
        return isRecord(value) ? withCleanNames(value) : value
      })
    },
  }
  const withCleanNames = (record: Record<string, unknown>) =>
    Object.fromEntries(Object.entries(record).map(([name, value]) => [redactor.text(name), value]))
  for (const value of secrets) redactor.add(value)
  return redactor
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
