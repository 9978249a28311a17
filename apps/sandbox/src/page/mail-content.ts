/** The content of a mail for a reader. Strangers write mail, so its HTML is only ever shown inside a frame. */
import type { AcceptedMessage } from '@org/mailer/testing'

const SNIPPET = 140
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
export function snippetOf({ textBody = '' }: AcceptedMessage): string {
  return textBody.slice(0, SNIPPET).replaceAll(/\s+/g, ' ').trim()
}

const searched = new WeakMap<AcceptedMessage, string>()

/** Whether a mail has every word in its addresses, subject, bodies or file names. */
export function hasWords(mail: AcceptedMessage, text: string): boolean {
  const { from, to, cc, bcc, subject, textBody, htmlBody, tag, attachments } = mail
  const names = attachments.map(({ name }) => name)
  const parts = [from, to, cc, bcc, subject, tag, names, textBody, htmlBody]
  const haystack = searched.get(mail) ?? parts.join(' ').toLowerCase()
  searched.set(mail, haystack)
  const words = text.toLowerCase().split(/\s+/)
  return words.every((word) => haystack.includes(word))
}
