/** Shortens data for a reader. */

/** A number with separated thousands. */
export function count(value: number): string {
  return value.toLocaleString('en-US')
}

/** A number of things, for example `1 call` or `1,203 calls`. */
export function plural(items: number, one: string): string {
  return `${count(items)} ${one}${items === 1 ? '' : 's'}`
}

/** Cuts the end of a text that is too long. */
export function truncate(text: string, width: number): string {
  const characters = [...text]
  return characters.length <= width ? text : `${characters.slice(0, Math.max(0, width - 1)).join('')}…`
}

/** Shows the characters that would turn the order of the others, for example as `\\u202e`. */
export function showTurns(text: string): string {
  return text.replaceAll(/[\u202a-\u202e\u2066-\u2069]/g, (turn) => `\\u${turn.charCodeAt(0).toString(16)}`)
}

/** Cuts the ids that providers generate, for example to `user_2ERp…`. */
export function shortenIds(text: string): string {
  return text.replaceAll(/\b([a-z]+_\w{4})\w{16,}/g, '$1…')
}

/** A path with short ids, and without the values of its query. */
export function shortenPath(path: string): string {
  return shortenIds(path.replace(/\?.*/, '?…'))
}
