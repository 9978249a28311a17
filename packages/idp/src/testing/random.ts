const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

/** Makes a text of random letters and digits. */
export function randomText(length: number): string {
  const bytes = crypto.getRandomValues(new Uint8Array(length))
  return Array.from(bytes, (byte) => alphabet.charAt(byte % alphabet.length)).join('')
}

/** Makes an id in the provider's form: the prefix, `_`, and 27 letters and digits, which sort by time. */
export function newId(prefix: string): string {
  return `${prefix}_2${Date.now().toString(36)}${randomText(18)}`
}
