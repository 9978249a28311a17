/**
 * The mailbox: the accepted mail. Strangers write mail, so it is shown in a frame that runs nothing, loads
 * nothing, and sees nothing of the page.
 */
import type { AcceptedMessage } from '@org/mailer/testing'
import { html } from 'hono/html'
import { plural, showTurns, truncate } from '../world/text.ts'
import type { PageContext } from './context.ts'
import type { Html, Line, Query, View } from './html.ts'
import { actionButton, address, clock, code, empty, filterBar, panes, split, terms, without } from './html.ts'
import { hasWords, snippetOf } from './mail-content.ts'

export function mailboxView(context: PageContext, query: Query): View {
  const { messages } = context
  const rest = without(query, 'mail', 'tab')
  const words = (query.q ?? '').trim()
  const chosen = messages.find(({ messageId }) => messageId === query.mail)
  const found = messages.filter((mail) => hasWords(mail, words))
  const send = html`<a href="/timeline?new=mailer/sendEmail">Send one</a>: it shows up here, and does not leave this machine.`
  const hidden = found.length < messages.length ? ', also those that the search hides' : ''
  const confirm = `Remove ${plural(messages.length, 'mail')}${hidden}?`
  const clear = html`Nothing has “${words}”. <a href="/mailbox">Show every mail</a>`
  return {
    title: 'Mailbox',
    bar: html`${filterBar('q', query, 'Find: address, subject, words, file')}<span id="mail-actions" data-live>${messages.length > 0 && actionButton('Clear', 'clear-mail', {}, { confirm })}</span>`,
    body: split('Mails', found.toReversed(), query, {
      row: (mail) => mailRow(mail, query),
      isChosen: (mail) => mail === chosen,
      none: messages.length > 0 ? empty('No match', clear) : empty('No mail yet', send),
      detail: chosen && mailDetail(context, chosen, query),
      back: address('/mailbox', rest),
    }),
  }
}

function mailRow(mail: AcceptedMessage, query: Query): Line {
  const { messageId, from, to, cc, subject, submittedAt, attachments } = mail
  return {
    id: `mail-${messageId}`,
    url: address('/mailbox', { ...query, mail: messageId }),
    look: 'mail',
    cells: {
      what: [...to, ...cc].join(', '),
      summary: html`<strong>${showTurns(subject) || '(no subject)'}</strong> <span class="facts">${snippetOf(mail)}</span>`,
      where: showTurns(nameOf(from)),
      took: attachments.length > 0 && plural(attachments.length, 'file'),
      when: clock(submittedAt),
    },
  }
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
      html: htmlBody !== '' && ['HTML', () => frame(mail)],
      text: textBody !== '' && ['Text', () => code('The mail as text', textBody)],
      source: ['Source', () => source(mail)],
      files: attachments.length > 0 && [`Files ${attachments.length}`, () => fileList(mail)],
    })}
  </article>`
}

function frame({ messageId }: AcceptedMessage): Html {
  const url = `/mail/${messageId}/html`
  return html`<a class="push" href="${url}" target="_blank" rel="noopener">Open alone</a>
    <iframe class="mail-frame" sandbox="allow-popups allow-popups-to-escape-sandbox" src="${url}" title="The mail as HTML" referrerpolicy="no-referrer"></iframe>`
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
