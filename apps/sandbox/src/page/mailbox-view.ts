/**
 * The mailbox: the accepted mail. Strangers write mail, so it is shown in a frame that runs nothing, loads
 * nothing, and sees nothing of the page.
 */
import type { AcceptedMessage } from '@org/mailer/testing'
import { html } from 'hono/html'
import { plural } from '../world/text.ts'
import type { PageContext } from './context.ts'
import { clock, code, empty, type Html, type Query, split, terms, type View } from './html.ts'

export function mailboxView({ world }: PageContext, query: Query): View {
  const messages = world.mail.emulator?.messages
  const view = { title: 'Mailbox', lead: 'The mail that the mail provider accepted.' }
  if (!messages) {
    return { ...view, body: empty('The mail provider is real', 'Its own dashboard shows the mail.') }
  }
  const chosen = messages.find(({ messageId }) => messageId === query.mail)
  const shown = chosen ?? messages.at(-1)
  const hint = html`<a href="/functions?route=mailer&function=sendEmail">Send one</a>: it does not leave this machine.`
  return {
    ...view,
    tall: true,
    body: split('Mails', messages.toReversed(), query, {
      list: (mails) => html`<ul class="mails">${mails.map((mail) => mailItem(mail, mail === shown))}</ul>`,
      none: empty('No mail yet', hint),
      back: chosen && '/mailbox',
      detail: shown ? mailDetail(shown) : html``,
    }),
  }
}

/** A mail in a list. */
export function mailItem(
  { messageId, to, subject, submittedAt, attachments }: AcceptedMessage,
  current = false,
): Html {
  return html`<li><a class="mail" href="/mailbox?mail=${messageId}" ${current ? html`aria-current="true"` : ''}>
    <strong>${to.join(', ')}</strong>${clock(submittedAt)}
    <span class="muted">${subject || '(no subject)'}${attachments.length > 0 ? html` <span class="tag">${plural(attachments.length, 'file')}</span>` : ''}</span></a></li>`
}

function mailDetail(mail: AcceptedMessage): Html {
  const { messageId, subject, htmlBody, textBody, attachments } = mail
  const facts: [string, unknown][] = [
    ['From', mail.from],
    ['To', mail.to.join(', ')],
    ['Cc', mail.cc.join(', ')],
    ['Bcc', mail.bcc.join(', ')],
    ['Reply to', mail.replyTo],
    ['Not delivered to', mail.inactive.join(', ')],
    ['Stream', mail.messageStream],
    ['Tag', mail.tag],
    ['Message id', html`<code>${messageId}</code>`],
  ]
  const pairs = (title: string, entries: [string, string][]) =>
    entries.length === 0 ? '' : html`<h3>${title}</h3>${terms(entries)}`
  const headers = mail.headers.map(({ name, value }): [string, string] => [name, value])
  const files = attachments.map(({ name, contentType, content }) => {
    const size = plural(Math.floor((content.length * 3) / 4), 'byte')
    return html`<li><strong>${name}</strong> <span class="muted">${contentType}, ${size}</span></li>`
  })
  return html`<article class="exchange" aria-label="Mail: ${subject}">
    <h2>${subject || '(no subject)'}</h2>
    ${terms(facts.filter(([, fact]) => fact))}
    ${htmlBody ? html`<h3>HTML</h3><iframe class="mail-frame" sandbox="" src="/mail/${messageId}/html" title="The mail as HTML" referrerpolicy="no-referrer"></iframe>` : ''}
    ${textBody ? html`<h3>Text</h3>${code('The mail as text', textBody)}` : ''}
    ${pairs('Headers', headers)}
    ${pairs('Metadata', Object.entries(mail.metadata))}
    ${files.length > 0 ? html`<h3>Attachments</h3><ul class="log">${files}</ul>` : ''}
    ${htmlBody ? html`<details class="more" id="source"><summary>HTML source</summary>${code('HTML source', htmlBody)}</details>` : ''}
  </article>`
}

/** A mail as the frame shows it, with its own images inside. */
export function mailDocument({ htmlBody = '', attachments }: AcceptedMessage): string {
  return attachments.reduce(
    (text, { contentId, contentType, content }) =>
      contentId
        ? text.replaceAll(`cid:${contentId.replace(/^cid:/, '')}`, `data:${contentType};base64,${content}`)
        : text,
    htmlBody,
  )
}
