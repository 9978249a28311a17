/** A mail address, taken apart. */
export interface Address {
  name: string
  /** The bare address, `a@b.c`. */
  address: string
}

const BARE_ADDRESS = /^[^\s@<>,;:"()[\]\\]+@[^\s@<>,;:"()[\]\\]+$/
// biome-ignore lint/suspicious/noControlCharactersInRegex: finding control characters is what it is for.
const CONTROL_CHARACTER = /[\u0000-\u001f\u007f]/
const NEEDS_QUOTES = /[,;:<>@()[\]\\"]/

/** Whether a text holds a line break, or another character that has no place in one line of a mail's head. */
export function hasControlCharacter(text: string): boolean {
  return CONTROL_CHARACTER.test(text)
}

/**
 * Reads `a@b.c` or `Name <a@b.c>`: exactly one address, so that a comma in what a user typed can't add a
 * recipient.
 *
 * @returns `undefined` where it is not one address
 */
export function parseAddress(text: string): Address | undefined {
  if (hasControlCharacter(text)) return undefined
  const trimmed = text.trim()
  const open = trimmed.lastIndexOf('<')
  const hasName = open !== -1 && trimmed.endsWith('>')
  const address = hasName ? trimmed.slice(open + 1, -1).trim() : trimmed
  return BARE_ADDRESS.test(address)
    ? { name: hasName ? unquote(trimmed.slice(0, open).trim()) : '', address }
    : undefined
}

/** Writes an address for a header; a name with a comma or another special character is quoted. */
export function formatAddress({ name, address }: Address): string {
  if (name === '') return address
  const display = NEEDS_QUOTES.test(name) ? `"${name.replaceAll(/["\\]/g, '\\$&')}"` : name
  return `${display} <${address}>`
}

function unquote(name: string): string {
  const quoted = name.length > 1 && name.startsWith('"') && name.endsWith('"')
  return quoted ? name.slice(1, -1).replaceAll(/\\(.)/g, '$1') : name
}
