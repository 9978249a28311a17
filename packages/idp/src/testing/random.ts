const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

/** @returns that many random letters and digits */
export function randomText(length: number): string {
  const bytes = crypto.getRandomValues(new Uint8Array(length))
  return Array.from(bytes, (byte) => alphabet.charAt(byte % alphabet.length)).join('')
}

/** @returns an id as the provider makes them: the prefix, and 27 letters and digits */
export function newId(prefix: string): string {
  return `${prefix}_2${randomText(26)}`
}
