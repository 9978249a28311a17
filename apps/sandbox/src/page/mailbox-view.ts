/**
 * The mailbox: the accepted mail. Strangers write mail, so it is shown in a frame that runs nothing, loads
 * nothing, and sees nothing of the page.
 */
import type { AcceptedMessage } from '@org/mailer/testing'
import { html } from 'hono/html'
import { count, plural, showTurns, truncate } from '../world/text.ts'
import type { PageContext } from './context.ts'
import type { Html, Query, View } from './html.ts'
import { actionButton, address, clock, code, empty, filterBar, panes, split, terms } from './html.ts'
import { hasWords, snippetOf } from './mail-content.ts'

const addressOf = (query: Query) => address('/mailbox', query)

export function mailboxView(context: PageContext, query: Query): View {
  const { world, readMail } = context
  const messages = world.mail.emulator?.messages
  const title = 'Mailbox'
  if (!messages)
    return { title, body: empty('The mail provider is real', 'Its own dashboard shows the mail.') }
  const { q = '', mail: chosenId, tab: _tab, ...rest } = query
  const words = q.trim()
  const chosen = messages.find(({ messageId }) => messageId === chosenId)
  if (chosen) readMail.add(chosen.messageId)
  const found = words === '' ? messages : messages.filter((mail) => hasWords(mail, words))
  const send = html`<a href="/timeline?new=mailer/sendEmail">Send one</a>: it shows up here, and does not leave this machine.`
  const clear = html`Nothing has “${q}”. <a href="/mailbox">Show every mail</a>`
  return {
    title,
    tall: true,
    bar: html`${filterBar('q', q, 'Find: address, subject, words, file')}${toolbar(context, found.length, words)}`,
    body: split('Mails', found.toReversed(), query, {
      row: (mail) => mailItem(mail, query, mail === chosen, !readMail.has(mail.messageId)),
      none: messages.length > 0 ? empty('No match', clear) : empty('No mail yet', send),
      anchorOf: ({ messageId }) => messageId,
      detail: chosen && mailDetail(context, chosen, query),
      back: addressOf({ ...rest, q }),
    }),
  }
}

function toolbar({ world, readMail }: PageContext, found: number, words: string): Html {
  const messages = world.mail.emulator?.messages ?? []
  const all = plural(messages.length, 'mail')
  const unread = messages.filter(({ messageId }) => !readMail.has(messageId)).length
  const hidden = found < messages.length ? ', also those that the search hides' : ''
  const question = { confirm: `Remove ${all}${hidden}?` }
  return html`<output id="mail-count" class="muted" data-live>${words === '' ? `${all}, ${count(unread)} unread` : `${count(found)} of ${all}`}</output>
    <span class="row" id="mail-actions" data-live>${unread > 0 && actionButton('Mark all read', 'read-mail', {})} ${messages.length > 0 && actionButton('Clear', 'clear-mail', {}, question)}</span>`
}

function mailItem(mail: AcceptedMessage, query: Query, current: boolean, unread: boolean): Html {
  const { messageId, from, to, cc, subject, submittedAt, attachments } = mail
  return html`<li class="entry"><a class="line mail" id="mail-${messageId}" href="${addressOf({ ...query, mail: messageId })}" ${current && html`aria-current="true"`}>
    <span class="mail-from">${unread && html`<span class="unread"><span class="visually-hidden">unread</span></span>`}${showTurns(nameOf(from))}</span>
    <span class="mail-to muted"><span class="visually-hidden">to</span> ${[...to, ...cc].join(', ')}</span>
    <span class="mail-about"><strong>${showTurns(subject) || '(no subject)'}</strong> <span class="muted">${snippetOf(mail)}</span></span>
    <span class="small">${attachments.length > 0 && plural(attachments.length, 'file')}</span>
    ${clock(submittedAt)}</a></li>`
}

/** The name of a sender, or the address without one. */
function nameOf(sender: string): string {
  return sender.split('<', 1)[0]?.replaceAll('"', '').trim() || sender
}

function mailDetail(context: PageContext, mail: AcceptedMessage, query: Query): Html {
  const { messageId, subject, htmlBody = '', textBody = '', attachments, submittedAt } = mail
  const event = context.eventOfMail.get(messageId)
  const facts = {
    From: mail.from,
    To: mail.to.join(', '),
    Cc: mail.cc.join(', '),
    Bcc: mail.bcc.join(', '),
    'Reply to': mail.replyTo,
    'Not delivered to': mail.inactive.join(', '),
  }
  return html`<article class="exchange mail-detail" aria-label="Mail: ${subject}">
    <header class="row"><h2>${showTurns(subject) || '(no subject)'}</h2>
      <span class="push muted">${event && html`<a href="/timeline?event=${event}">sent by event ${event}</a>, `}${clock(submittedAt)}</span></header>
    ${terms(Object.entries(facts).filter(([, fact]) => fact))}
    ${panes('Parts of the mail', '/mailbox', query, {
      html: ['HTML', htmlBody !== '', () => frame(mail)],
      text: ['Text', textBody !== '', () => code('The mail as text', textBody)],
      source: ['Source', true, () => source(mail)],
      files: [`Files ${attachments.length}`, attachments.length > 0, () => fileList(mail)],
    })}
  </article>`
}

function frame({ messageId }: AcceptedMessage): Html {
  const url = `/mail/${messageId}/html`
  return html`<div class="mail-pane"><a class="push" href="${url}" target="_blank" rel="noopener">Open alone</a>
    <iframe class="mail-frame" width="100%" sandbox="allow-popups allow-popups-to-escape-sandbox" src="${url}" title="The mail as HTML" referrerpolicy="no-referrer"></iframe></div>`
}

/** The HTML, and the message as the provider received it. */
function source(mail: AcceptedMessage): Html {
  const { messageId, htmlBody = '', headers, metadata } = mail
  const own = headers.map(({ name, value }) => [name, value] as const)
  return html`${htmlBody !== '' && html`<h3>HTML</h3>${code('HTML source', htmlBody)}`}
    <h3>Headers</h3>${terms([['Message ID', html`<code>${messageId}</code>`], ...own, ...Object.entries(metadata)])}
    <h3>On the wire</h3>${code('The message on the wire', truncate(JSON.stringify(mail.raw, null, 2), LONGEST_RAW))}`
}

const LONGEST_RAW = 100_000

function fileList({ messageId, attachments }: AcceptedMessage): Html {
  const item = ({ name, contentType, content, contentId }: (typeof attachments)[number], index: number) =>
    html`<li class="row"><strong>${name}</strong> <span class="muted">${contentType}, ${plural(Buffer.byteLength(content, 'base64'), 'byte')}</span>${contentId && html` <span class="tag">inline</span>`}
      <a class="button push" href="/mail/${messageId}/files/${index}" download="${name}">Save</a></li>`
  return html`<ul class="log">${attachments.map(item)}</ul>`
}
