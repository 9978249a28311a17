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

/** A mail as the frame shows it: with its own images inside; a link opens a new tab, or scrolls inside the mail. */
export function mailDocument({ htmlBody = '', attachments }: AcceptedMessage): string {
  const inlined = attachments.reduce(
    (text, { contentId, contentType, content }) =>
      contentId
        ? text.replaceAll(`cid:${contentId.replace(/^cid:/, '')}`, `data:${contentType};base64,${content}`)
        : text,
    htmlBody,
  )
  // From another base, a link to a part of the mail would lead out of it.
  const based = inlined.replaceAll(/<base(?=[\s/>])[^>]*>/gi, '')
  return based.replaceAll(/<(a|area)(?=[\s/])([^>]*)/gi, (_, name: string, attributes: string) => {
    const url = hrefOf(attributes)
    const inside = url.startsWith('#')
    // A mail has no address that a relative link could start from.
    const linked = inside || ABSOLUTE.test(url) ? attributes : attributes.replace(HREF, ' data-href=$1')
    // The first of two attributes with one name counts. Without quotes, the addition can't end another attribute.
    return `<${name} target=${inside ? '_self' : '_blank'} rel=noopener${linked}`
  })
}

const HREF = /\shref\s*=\s*("[^"]*"|'[^']*'|[^\s"']+)/i
const ABSOLUTE = /^([a-z][a-z\d+.-]*:|\/\/)/i

/** The address in the attributes of a link. */
function hrefOf(attributes: string): string {
  const [, quoted = ''] = HREF.exec(attributes) ?? []
  return decode(quoted.replaceAll(/^["']|["']$/g, '')).trim()
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
  return decode(words).replaceAll(/\s+/g, ' ').trim()
}

function decode(text: string): string {
  return text.replaceAll(/&(#?\w+);/g, (whole, name: string) => entities[name] ?? whole)
}
