/** Masks the mail addresses in a text, because an error may end up in a log. */
export function maskAddresses(text: string): string {
  if (!text.includes('@')) return text
  return text.replaceAll(/[^\s<>,;()"]+/g, (word) => {
    if (!word.includes('@')) return word
    return word.endsWith('.') ? '[address].' : '[address]'
  })
}
