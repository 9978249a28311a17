/** A shorter part of a name says little. */
const SHORTEST_WORD = 4
/** Characters of a name that is looked at. */
const MAX_NAME_LENGTH = 80

/**
 * Suggests the nearest of some names: “; the nearest name is …”. The first or last word of a name is near to it.
 *
 * @returns an empty string if no name is close
 */
export function suggestion(given: string, names: readonly string[]): string {
  if (given.length > MAX_NAME_LENGTH) return ''
  const word = given.toLowerCase()
  const isPart = (name: string) =>
    word.length >= SHORTEST_WORD && (name.startsWith(word) || name.endsWith(word))
  const nearest = names
    .map((name) => ({ name, lower: name.toLowerCase() }))
    .map(({ name, lower }) => ({ name, distance: isPart(lower) ? 1 : editDistance(word, lower) }))
    .sort((a, b) => a.distance - b.distance)[0]
  const close = nearest && nearest.distance <= Math.max(2, Math.floor(nearest.name.length / 3))
  return close ? `; the nearest name is “${nearest.name}”` : ''
}

/** The Levenshtein distance. */
export function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let i = 1; i <= from.length; i += 1) {
    const next = [i]
    for (let j = 1; j <= to.length; j += 1) {
      const substitution = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1)
      next.push(Math.min(substitution, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[to.length] ?? 0
}
