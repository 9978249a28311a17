/** The content of a mail for a reader. Strangers write mail, so its HTML is only ever shown inside a frame. */
import type { AcceptedMessage } from '@org/mailer/testing'

const SNIPPET = 140
/** Short enough for patterns that take quadratic time for hostile HTML. */
const SEARCHED = 4_000
const entities: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  nbsp: ' ',
  '#39': "'",
}

/** A mail as the frame shows it: with its own images inside; a link opens a new tab. */
export function mailDocument({ htmlBody = '', attachments }: AcceptedMessage): string {
  const inlined = attachments.reduce(
    (text, { contentId, contentType, content }) =>
      contentId
        ? text.replaceAll(`cid:${contentId.replace(/^cid:/, '')}`, `data:${contentType};base64,${content}`)
        : text,
    htmlBody,
  )
  // The first of two attributes with one name counts.
  return inlined.replaceAll(/<(a|area)(?=\s)/gi, '<$1 target=_blank rel=noopener')
}

/** The first words of a mail. */
export function snippetOf({ textBody = '', htmlBody = '' }: AcceptedMessage): string {
  const text = textBody.slice(0, SEARCHED).replaceAll(/\s+/g, ' ').trim()
  return (text || plainText(htmlBody)).slice(0, SNIPPET)
}

const searched = new WeakMap<AcceptedMessage, string>()

/** Whether a mail has every word in its addresses, subject, bodies or file names. */
export function hasWords(mail: AcceptedMessage, text: string): boolean {
  const { from, to, cc, bcc, subject, textBody = '', htmlBody = '', tag, attachments } = mail
  const names = attachments.map(({ name }) => name)
  const parts = () => [from, to, cc, bcc, subject, tag, names, textBody.slice(0, 20_000), plainText(htmlBody)]
  const haystack = searched.get(mail) ?? parts().join(' ').toLowerCase()
  searched.set(mail, haystack)
  const words = text.toLowerCase().split(/\s+/)
  return words.every((word) => haystack.includes(word))
}

/** The words of HTML. */
function plainText(html: string): string {
  const words = html.slice(0, SEARCHED).replaceAll(/<(style|script|title)\b[\s\S]*?<\/\1|<[^>]*>?/gi, ' ')
  const decoded = words.replaceAll(/&(#?\w+);/g, (whole, name: string) => entities[name] ?? whole)
  return decoded.replaceAll(/\s+/g, ' ').trim()
}
