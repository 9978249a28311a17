/**
 * The mailbox: what the mail provider accepted. Mail is written by strangers: it is shown in a frame that can
 * run nothing, load nothing, and see nothing of the page.
 *
 * @module
 */
import type { AcceptedMessage } from '@org/mailer/testing'
import { html } from 'hono/html'
import type { PageContext } from './context.ts'
import { clock, count, empty, type Html } from './html.ts'
import type { View } from './layout.ts'

const PAGE = 100

/** The view. */
export function mailboxView(context: PageContext, query: Readonly<Record<string, string>>): View {
  const { emulator } = context.world.mail
  const view = { title: 'Mailbox', lead: 'What the mail provider accepted.' }
  if (!emulator)
    return {
      ...view,
      body: empty('The mail provider is the real one', 'What it accepted is shown by the provider itself.'),
    }
  const { messages } = emulator
  const chosen = messages.find(({ messageId }) => messageId === query.mail) ?? messages.at(-1)
  return {
    ...view,
    tall: messages.length > 0,
    body:
      messages.length === 0
        ? html`<div id="mails" data-live>${empty('No mail yet', html`<a href="/functions?route=mailer&function=sendEmail">Send one</a>: it goes no further than here.`)}</div>`
        : html`<div class="split mailbox ${query.mail ? 'opened' : ''}">
          <nav class="list" id="mails" aria-label="Mails" data-live tabindex="-1">${mailList(messages, chosen, Number(query.skip) || 0)}</nav>
          <section class="detail" aria-label="Mail"><a class="button quiet back" href="/mailbox">Back to the list</a>${chosen ? mailDetail(chosen) : ''}</section>
        </div>`,
  }
}

function mailList(
  messages: readonly AcceptedMessage[],
  chosen: AcceptedMessage | undefined,
  skip: number,
): Html {
  const shown = messages
    .slice(0, messages.length - skip)
    .slice(-PAGE)
    .reverse()
  const older = messages.length - skip - shown.length
  return html`<ul class="mails">${shown.map((mail) => mailItem(mail, mail === chosen))}</ul>
    <p class="pager">${skip > 0 ? html`<a href="/mailbox?skip=${Math.max(0, skip - PAGE)}">Newer</a>` : ''}
    ${older > 0 ? html`<a href="/mailbox?skip=${skip + PAGE}">${count(older, 'older mail')}</a>` : ''}</p>`
}

/** A mail in a list. */
export function mailItem(
  { messageId, to, subject, submittedAt, attachments }: AcceptedMessage,
  current = false,
): Html {
  return html`<li><a class="mail" href="/mailbox?mail=${messageId}" ${current ? html`aria-current="true"` : ''}>
    <span class="mail-to">${to.join(', ')}</span><span class="when">${clock(submittedAt)}</span>
    <span class="mail-subject">${subject || '(no subject)'}</span>${attachments.length > 0 ? html`<span class="tag">${count(attachments.length, 'file')}</span>` : ''}</a></li>`
}

function mailDetail(mail: AcceptedMessage): Html {
  const {
    messageId,
    from,
    to,
    cc,
    bcc,
    inactive,
    subject,
    replyTo,
    tag,
    messageStream,
    htmlBody,
    textBody,
    headers,
    metadata,
    attachments,
  } = mail
  const facts: [string, unknown][] = [
    ['From', from],
    ['To', to.join(', ')],
    ['Cc', cc.join(', ')],
    ['Bcc', bcc.join(', ')],
    ['Reply to', replyTo],
    ['Not delivered to', inactive.join(', ')],
    ['Stream', messageStream],
    ['Tag', tag],
    ['Message id', html`<code>${messageId}</code>`],
  ]
  return html`<article class="exchange" aria-label="Mail: ${subject}">
    <h2>${subject || '(no subject)'}</h2>
    <dl class="facts">${facts.filter(([, fact]) => fact).map(([name, fact]) => html`<dt>${name}</dt><dd>${fact}</dd>`)}</dl>
    ${htmlBody ? html`<h3>HTML</h3><iframe class="mail-frame" sandbox="" src="/mail/${messageId}/html" title="The mail as HTML" referrerpolicy="no-referrer"></iframe>` : ''}
    ${textBody ? html`<h3>Text</h3><pre tabindex="0" aria-label="The mail as text">${textBody}</pre>` : ''}
    ${pairs(
      'Headers',
      headers.map(({ name, value }) => [name, value]),
    )}
    ${pairs('Metadata', Object.entries(metadata))}
    ${attachments.length > 0 ? html`<h3>Attachments</h3><ul class="log">${attachments.map(({ name, contentType, content }) => html`<li><strong>${name}</strong> <span class="muted">${contentType}, ${count(Math.floor((content.length * 3) / 4), 'byte')}</span></li>`)}</ul>` : ''}
    ${htmlBody ? html`<details class="more" id="source"><summary>HTML source</summary><pre tabindex="0" aria-label="HTML source">${htmlBody}</pre></details>` : ''}
  </article>`
}

function pairs(title: string, entries: readonly (readonly [string, string])[]): Html {
  if (entries.length === 0) return html``
  return html`<h3>${title}</h3><dl class="values">${entries.map(([name, value]) => html`<dt>${name}</dt><dd><code class="value">${value}</code></dd>`)}</dl>`
}

/** A mail as the frame shows it: images that it brings along are put into it. */
export function mailDocument({ htmlBody = '', attachments }: AcceptedMessage): string {
  return attachments.reduce(
    (text, { contentId, contentType, content }) =>
      contentId
        ? text.replaceAll(`cid:${contentId.replace(/^cid:/, '')}`, `data:${contentType};base64,${content}`)
        : text,
    htmlBody,
  )
}
