/** The start: a tour of the host in four clicks. */
import { html } from 'hono/html'
import { plural } from '../world/text.ts'
import { hasFailed, hasSucceeded, type TimelineEntry } from '../world/timeline.ts'
import type { PageContext } from './context.ts'
import { callForm, exampleMail } from './functions-view.ts'
import { actionButton, empty, type Html, status, type View } from './html.ts'
import { mailItem } from './mailbox-view.ts'
import { schemaFields, sendForm } from './schema-form.ts'
import { eventsWithCalls } from './timeline-rows.ts'

const EVENTS_SHOWN = 5
const MAILS_SHOWN = 3

export function startView(context: PageContext): View {
  return {
    title: 'See it, try it, break it',
    lead: 'A platform sends events; the host handles them at a provider, and reports back. Four clicks show how.',
    body: html`<div class="columns">
      <ol>${tour(context).map(stepCard)}</ol>
      <div>
        <section class="card" aria-labelledby="mailbox"><header class="card-title"><h2 id="mailbox">Mailbox</h2><a class="push" href="/mailbox">All mail</a></header>
          <div id="latest-mail" data-live>${latestMail(context)}</div></section>
        <section class="card" aria-labelledby="happened"><header class="card-title"><h2 id="happened">Events</h2><a class="push" href="/timeline">Timeline</a></header>
          <div id="latest" data-live>${latestEvents(context)}</div></section>
      </div></div>`,
  }
}

type Step = ReturnType<typeof tour>[number]

function stepCard({ title, text, body, done }: Step, index: number): Html {
  const link = done && html`<a href="/timeline?event=${done.number}">${status('ok', 'done')}</a>`
  return html`<li class="card step"><header class="card-title"><span class="step-number" aria-hidden="true">${index + 1}</span><h2>${title}</h2>
    <span class="push" id="done-${index}" data-live>${link ?? ''}</span></header>${text ? html`<p>${text}</p>` : ''}
    ${body}</li>`
}

function tour(context: PageContext) {
  const { timeline, world } = context
  const newest = (condition: (entry: TimelineEntry) => boolean) =>
    timeline.newest((entry) => entry.source === 'page' && condition(entry))
  const isMail = (entry: TimelineEntry) => entry.subject === 'sendEmail' && hasSucceeded(entry)
  const number = newest(isMail)?.number
  const again = (label: string, id: string, fault?: string) =>
    html`<div id="step-${id}" data-live>${
      number === undefined
        ? html`<button type="button" class="button primary" disabled>Send a mail first</button>`
        : actionButton(label, 'again', { number, id, fault }, { look: 'primary' })
    }</div>`
  return [
    {
      title: 'Deploy the mailer',
      text: html`The host verifies the shared token, and publishes the outputs that senders need.`,
      body: html`<div id="step-deploy" data-live>${deployButton(context)}</div>`,
      done: newest(
        (entry) => entry.event === 'DEPLOYMENT_CREATED' && entry.route === 'mailer' && hasSucceeded(entry),
      ),
    },
    { title: 'Send a mail', text: undefined, body: mailForm(context), done: newest(isMail) },
    {
      title: 'Break the provider',
      text: html`The next response is <code>429</code>, too many requests. Nothing was sent, so the host waits, and tries again.`,
      body: world.mail.emulator
        ? again('Break it, and send', 'new', 'rate-limit')
        : html`<p class="hint">A real provider can’t be broken.</p>`,
      done: newest((entry) => isMail(entry) && entry.calls.some(hasFailed)),
    },
    {
      title: 'Deliver it again',
      text: html`The host replays the recorded response: no call, and no second mail.`,
      body: again('Deliver again', 'same'),
      done: newest((entry) => entry.subject === 'sendEmail' && entry.response?.replayed === true),
    },
  ]
}

function deployButton(context: PageContext): Html {
  const running = newestMailer(context)
  if (running)
    return html`<p><code>${running}</code> is running. <a href="/deployments">Its outputs and log</a></p>`
  const event = { name: 'DEPLOYMENT_CREATED', deployment: { id: context.freeId('mailer'), inputs: {} } }
  return actionButton('Deploy', 'event', { route: 'mailer', event }, { look: 'primary' })
}

function newestMailer(context: PageContext): string | undefined {
  return context.deployments().find(({ status, route }) => status === 'running' && route === 'mailer')?.id
}

function mailForm(context: PageContext): Html {
  const schema = context.manifests.find(({ name }) => name === 'mailer')?.functions.sendEmail?.arguments ?? {}
  const values = exampleMail(context)
  return sendForm(
    callForm('mailer', 'sendEmail', 'Send'),
    html`<div hidden id="step-send" data-live><input type="hidden" data-extra="event.deployment.id" value="${newestMailer(context) ?? ''}"></div>
    <details class="more" id="mail-fields"><summary>To ${values.to}: “${values.subject}”</summary>
    <div class="fields">${schemaFields(schema, { prefix: 'start', values, only: ['to', 'subject', 'htmlBody'] })}</div></details>`,
  )
}

function latestEvents(context: PageContext): Html {
  const entries = context.timeline.list().filter(({ source }) => source !== 'walk')
  if (entries.length === 0) return empty('No event yet', 'Each event shows up here with its calls.')
  return eventsWithCalls(context, entries.slice(0, EVENTS_SHOWN))
}

function latestMail({ world }: PageContext): Html {
  const messages = world.mail.emulator?.messages ?? []
  if (messages.length === 0)
    return empty(
      'No mail yet',
      'The mail that the provider accepts shows up here. It does not leave this machine.',
    )
  const mails = messages.slice(-MAILS_SHOWN).reverse()
  return html`<p><strong data-count="mail">${plural(messages.length, 'mail')}</strong> accepted by the provider</p>
    <ul class="mails">${mails.map((mail) => mailItem(mail))}</ul>`
}
