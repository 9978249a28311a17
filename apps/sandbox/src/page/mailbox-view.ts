/**
 * The mailbox: the accepted mail. Strangers write mail, so it is shown in a frame that runs nothing, loads
 * nothing, and sees nothing of the page.
 */
import type { AcceptedMessage } from '@org/mailer/testing'
import { html } from 'hono/html'
import { count, plural, showTurns } from '../world/text.ts'
import type { PageContext } from './context.ts'
import {
  actionButton,
  address,
  clock,
  code,
  empty,
  type Html,
  type Query,
  split,
  tabs,
  terms,
  type View,
} from './html.ts'
import { hasWords, linksOf, snippetOf } from './mail-content.ts'

export function mailboxView(context: PageContext, query: Query): View {
  const { world, readMail } = context
  const messages = world.mail.emulator?.messages
  const view = {
    title: 'Mailbox',
    lead: 'The mail that the mail provider accepted. It does not leave this machine.',
  }
  if (!messages) {
    return {
      ...view,
      lead: '',
      body: empty('The mail provider is real', 'Its own dashboard shows the mail.'),
    }
  }
  const { q = '', mail: chosenId, ...rest } = query
  const chosen = messages.find(({ messageId }) => messageId === chosenId)
  if (chosen) readMail.add(chosen.messageId)
  const found = q.trim() === '' ? messages : messages.filter((mail) => hasWords(mail, q.trim()))
  const send = html`<a href="/functions?route=mailer&function=sendEmail">Send one</a>: it shows up here.`
  const clear = html`Nothing has “${q}”. <a href="/mailbox">Show every mail</a>`
  return {
    ...view,
    tall: true,
    scripts: ['mailbox'],
    body: html`${toolbar(messages, found.length, q, readMail)}${split('Mails', found.toReversed(), query, {
      list: (mails) =>
        html`<ul class="mails">${mails.map((mail) => mailItem(mail, { query, current: mail === chosen, unread: !readMail.has(mail.messageId) }))}</ul>`,
      none: messages.length > 0 ? empty('No match', clear) : empty('No mail yet', send),
      anchorOf: ({ messageId }) => messageId,
      isAt: ({ messageId }, anchor) => messageId === anchor,
      back: chosen && addressOf({ ...rest, q }),
      detail: chosen ? mailDetail(context, chosen, query) : html``,
    })}`,
  }
}

function toolbar(
  messages: readonly AcceptedMessage[],
  found: number,
  q: string,
  read: ReadonlySet<string>,
): Html {
  const unread = messages.filter(({ messageId }) => !read.has(messageId)).length
  const shown =
    q.trim() === ''
      ? `${plural(messages.length, 'mail')}, ${count(unread)} unread`
      : `${count(found)} of ${plural(messages.length, 'mail')}`
  const hidden = found < messages.length ? ', also those that the search hides' : ''
  const question = { confirm: `Remove ${plural(messages.length, 'mail')}${hidden}?` }
  return html`<form class="filter" id="mail-filter" role="search">
    <label class="grow"><span class="visually-hidden">Find</span><input type="search" name="q" value="${q}" placeholder="Find: address, subject, words, file" autocomplete="off" spellcheck="false"></label>
    <output id="mail-count" class="muted" data-live>${shown}</output>
    <span class="row" id="mail-actions" data-live>${messages.length === 0 ? '' : html`${unread > 0 ? actionButton('Mark all read', 'read-mail', {}) : ''} ${actionButton('Clear', 'clear-mail', {}, question)}`}</span>
  </form>`
}

const addressOf = (query: Query) => address('/mailbox', query)

const CLIP = html`<svg viewBox="0 0 16 16" aria-hidden="true"><path d="m11 5-5 5a1 1 0 0 0 2 2l5-5a3 3 0 0 0-4-4L4 8a4 4 0 0 0 6 6l4-4"/></svg>`

/** A mail in a list. */
export function mailItem(
  mail: AcceptedMessage,
  {
    query = {},
    current = false,
    unread = false,
  }: { query?: Query; current?: boolean; unread?: boolean } = {},
): Html {
  const { messageId, from, to, cc, subject, submittedAt, attachments } = mail
  const recipients = [...to, ...cc].join(', ')
  return html`<li><a class="mail" id="mail-${messageId}" href="${addressOf({ ...query, mail: messageId })}" ${current ? html`aria-current="true"` : ''}>
    <span class="mail-from">${unread ? html`<span class="unread"><span class="visually-hidden">unread</span></span>` : ''}${showTurns(nameOf(from))}</span>
    <span class="mail-to"><span class="visually-hidden">to</span> ${recipients}</span>
    <span class="mail-about"><strong>${showTurns(subject) || '(no subject)'}</strong> <span class="snippet">${snippetOf(mail)}</span></span>
    <span class="mail-clip">${attachments.length > 0 ? html`${CLIP}<span class="visually-hidden">${plural(attachments.length, 'file')}</span>` : ''}</span>
    ${clock(submittedAt)}</a></li>`
}

/** The name of a sender, or the address without one. */
function nameOf(sender: string): string {
  return sender.split('<', 1)[0]?.replaceAll('"', '').trim() || sender
}

const widths = ['375', '600', 'full']

function mailDetail(context: PageContext, mail: AcceptedMessage, query: Query): Html {
  const { messageId, subject, htmlBody, textBody, attachments, submittedAt } = mail
  const event = context.eventOfMail.get(messageId)
  const links = linksOf(mail)
  const panes = [
    { name: 'html', title: 'HTML', shown: htmlBody, draw: () => frame(mail, query) },
    { name: 'text', title: 'Text', shown: textBody, draw: () => code('The mail as text', textBody ?? '') },
    { name: 'source', title: 'Source', shown: htmlBody, draw: () => code('HTML source', htmlBody ?? '') },
    { name: 'headers', title: 'Headers', shown: true, draw: () => headers(mail) },
    { name: 'raw', title: 'Raw', shown: true, draw: () => code('The message on the wire', rawText(mail)) },
    { name: 'links', title: `Links ${links.length}`, shown: links.length, draw: () => linkList(links) },
    {
      name: 'files',
      title: `Files ${attachments.length}`,
      shown: attachments.length,
      draw: () => fileList(mail),
    },
  ].filter(({ shown }) => shown)
  const current = panes.find(({ name }) => name === query.tab) ?? panes[0]
  const facts: [string, unknown][] = [
    ['From', mail.from],
    ['To', mail.to.join(', ')],
    ['Cc', mail.cc.join(', ')],
    ['Bcc', mail.bcc.join(', ')],
    ['Reply to', mail.replyTo],
    ['Not delivered to', mail.inactive.join(', ')],
  ]
  return html`<article class="exchange mail-detail" aria-label="Mail: ${subject}">
    <header class="card-title"><h2>${showTurns(subject) || '(no subject)'}</h2>
      <span class="push muted">${event ? html`<a href="/timeline?event=${event}">sent by event ${event}</a>, ` : ''}${clock(submittedAt)}</span></header>
    ${terms(facts.filter(([, fact]) => fact))}
    ${tabs(
      'Parts of the mail',
      panes.map(({ name, title }) => [title, addressOf({ ...query, tab: name }), name === current?.name]),
    )}
    ${current?.draw()}
  </article>`
}

function frame({ messageId }: AcceptedMessage, query: Query): Html {
  const width = widths.find((one) => one === query.width) ?? 'full'
  const links = widths.map(
    (one) =>
      [one === 'full' ? 'Full' : `${one} px`, addressOf({ ...query, width: one }), one === width] as const,
  )
  return html`<div class="mail-pane width-${width}"><div class="row">${tabs('Width', links)}<a class="push" href="/mail/${messageId}/html" target="_blank" rel="noopener">Open alone</a></div>
    <iframe class="mail-frame" sandbox="allow-popups allow-popups-to-escape-sandbox" src="/mail/${messageId}/html" title="The mail as HTML" referrerpolicy="no-referrer"></iframe></div>`
}

function headers({ messageId, messageStream, tag, headers, metadata }: AcceptedMessage): Html {
  return terms([
    ['Message id', html`<code>${messageId}</code>`],
    ['Stream', messageStream],
    ...(tag ? [['Tag', tag] as const] : []),
    ...headers.map(({ name, value }) => [name, value] as const),
    ...Object.entries(metadata).map(
      ([name, value]) => [html`${name} <span class="tag">metadata</span>`, value] as const,
    ),
  ])
}

const LONGEST_RAW = 2_000

/** The message as the provider received it; long texts are cut. */
function rawText({ raw }: AcceptedMessage): string {
  const cut = (_: string, value: unknown) =>
    typeof value === 'string' && value.length > LONGEST_RAW
      ? `${value.slice(0, LONGEST_RAW)}… (${count(value.length)} characters)`
      : value
  return JSON.stringify(raw, cut, 2)
}

function linkList(links: ReturnType<typeof linksOf>): Html {
  const item = ({ url, label }: (typeof links)[number]) =>
    html`<li>${/^(https?|mailto):/i.test(url) ? html`<a href="${url}" target="_blank" rel="noopener noreferrer">${url}</a>` : html`<code>${url}</code>`} <span class="muted">${label}</span></li>`
  return html`<ul class="log">${links.map(item)}</ul>`
}

function fileList({ messageId, attachments }: AcceptedMessage): Html {
  const item = ({ name, contentType, content, contentId }: (typeof attachments)[number], index: number) =>
    html`<li class="row"><strong>${name}</strong> <span class="muted">${contentType}, ${plural(Buffer.byteLength(content, 'base64'), 'byte')}</span>${contentId ? html` <span class="tag">inline</span>` : ''}
      <a class="button push" href="/mail/${messageId}/files/${index}" download="${name}">Save</a></li>`
  return html`<ul class="log">${attachments.map(item)}</ul>`
}
