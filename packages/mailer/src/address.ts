/** A mail address and its display name. */
export interface Address {
  /** Empty if there is none. */
  name: string
  /** The bare address, `a@b.c`. */
  address: string
}

/** The fault of a text that is not one address. */
export const ADDRESS_FAULT = 'is invalid: expected one address, a@b.c or Name <a@b.c>'

const BARE_ADDRESS = /^[^\s@<>,;:"()[\]\\]+@[^\s@<>,;:"()[\]\\]+$/
// biome-ignore lint/suspicious/noControlCharactersInRegex: it looks for control characters.
const CONTROL_CHARACTER = /[\u0000-\u001f\u007f]/
const NEEDS_QUOTES = /[,;:<>@()[\]\\"]/

/** Whether a text contains a line break or another control character, which could start a new header. */
export function hasControlCharacter(text: string): boolean {
  return CONTROL_CHARACTER.test(text)
}

/**
 * Parses `a@b.c` or `Name <a@b.c>`. It accepts exactly one address, so that a comma in a user’s input can’t
 * add a recipient.
 *
 * @returns `undefined` if the text is not one address
 */
export function parseAddress(text: string): Address | undefined {
  if (hasControlCharacter(text)) return undefined
  const trimmed = text.trim()
  const open = trimmed.lastIndexOf('<')
  const hasName = open !== -1 && trimmed.endsWith('>')
  const address = hasName ? trimmed.slice(open + 1, -1).trim() : trimmed
  if (!BARE_ADDRESS.test(address)) return undefined
  return { name: hasName ? unquote(trimmed.slice(0, open).trim()) : '', address }
}

/** Formats an address for a header, and quotes a name that contains a special character. */
export function formatAddress({ name, address }: Address): string {
  if (name === '') return address
  const display = NEEDS_QUOTES.test(name) ? `"${name.replaceAll(/["\\]/g, '\\$&')}"` : name
  return `${display} <${address}>`
}

function unquote(name: string): string {
  const quoted = name.length > 1 && name.startsWith('"') && name.endsWith('"')
  return quoted ? name.slice(1, -1).replaceAll(/\\(.)/g, '$1') : name
}
