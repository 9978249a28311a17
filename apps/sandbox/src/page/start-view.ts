/**
 * The start: a tour of the host in four clicks.
 *
 * @module
 */
import { html } from 'hono/html'
import { plural } from '../world/text.ts'
import { hasFailed, type TimelineEntry } from '../world/timeline.ts'
import type { PageContext } from './context.ts'
import { exampleMail } from './functions-view.ts'
import { actionButton, empty, type Html, status, type View } from './html.ts'
import { mailItem } from './mailbox-view.ts'
import { schemaFields, sendForm } from './schema-form.ts'
import { timelineRows } from './timeline-rows.ts'

const EVENTS_SHOWN = 5
const MAILS_SHOWN = 3

/** The view. */
export function startView(context: PageContext): View {
  const primary = { look: 'primary' }
  const afterMail = (button: Html) =>
    newest(context, 'sent')
      ? button
      : html`<button type="button" class="button primary" disabled>${'Send a mail first'}</button>`
  const breakIt = context.world.mail.emulator
    ? actionButton('Break it, and send', 'break-and-repeat', {}, primary)
    : html`<p class="hint">A real provider can’t be broken.</p>`
  const steps: [title: string, goal: keyof typeof goals, body: Html][] = [
    [
      'Deploy the mailer',
      'deployed',
      html`<p>The host verifies the shared token, and publishes the outputs that senders need.</p>
      <div id="step-deploy" data-live>${deployButton(context)}</div>`,
    ],
    ['Send a mail', 'sent', mailForm(context)],
    [
      'Break the provider',
      'survived',
      html`<p>The next answer is <code>429</code>, too many requests. Nothing was sent, so the host waits, and tries again.</p>
      <div id="step-break" data-live>${afterMail(breakIt)}</div>`,
    ],
    [
      'Deliver it again',
      'replayed',
      html`<p>The host replays the recorded response: no call, and no second mail.</p>
      <div id="step-again" data-live>${afterMail(actionButton('Deliver again', 'repeat', {}, primary))}</div>`,
    ],
  ]
  return {
    title: 'See it, try it, break it',
    lead: 'A platform sends events; the host handles them at a provider, and reports back. Four clicks show how.',
    body: html`<div class="columns start">
      <ol class="steps">${steps.map(
        ([title, goal, body], index) =>
          html`<li class="card step"><header class="card-title"><span class="step-number" aria-hidden="true">${index + 1}</span><h2>${title}</h2>
          <span class="push" id="goal-${goal}" data-live>${outcome(context, goal)}</span></header>${body}</li>`,
      )}</ol>
      <div class="aside">
        <section class="card" aria-labelledby="mailbox"><header class="card-title"><h2 id="mailbox">Mailbox</h2><a class="push" href="/mailbox">All mail</a></header>
          <div id="latest-mail" data-live>${latestMail(context)}</div></section>
        <section class="card" aria-labelledby="happened"><header class="card-title"><h2 id="happened">Events</h2><a class="push" href="/timeline">Timeline</a></header>
          <div id="latest" data-live>${latest(context)}</div></section>
      </div></div>`,
  }
}

/** The events that reach the goals of the tour. */
const goals = {
  deployed: (entry: TimelineEntry) =>
    entry.event === 'DEPLOYMENT_CREATED' && entry.route === 'mailer' && succeeded(entry),
  sent: (entry: TimelineEntry) => entry.subject === 'sendEmail' && succeeded(entry),
  survived: (entry: TimelineEntry) => goals.sent(entry) && entry.calls.some(hasFailed),
  replayed: (entry: TimelineEntry) => entry.subject === 'sendEmail' && entry.response?.replayed === true,
}

function succeeded({ response }: TimelineEntry): boolean {
  return response !== undefined && response.status < 400
}

function newest({ timeline }: PageContext, goal: keyof typeof goals): TimelineEntry | undefined {
  return timeline.newest((entry) => entry.source === 'page' && goals[goal](entry))
}

function outcome(context: PageContext, goal: keyof typeof goals): Html {
  const entry = newest(context, goal)
  if (!entry) return html``
  return html`<a href="/timeline?event=${entry.number}" class="plain">${status('ok', 'done')}</a>`
}

function deployButton(context: PageContext): Html {
  const running = newestMailer(context)
  if (running)
    return html`<p><code>${running}</code> is running. <a href="/deployments">Its outputs and log</a></p>`
  const body = { route: 'mailer', deployment: context.freeId('mailer'), values: {} }
  return actionButton('Deploy', 'deploy', body, { look: 'primary' })
}

function newestMailer(context: PageContext): string | undefined {
  return context.deployments().find(({ status, route }) => status === 'running' && route === 'mailer')?.id
}

function mailForm(context: PageContext): Html {
  const schema = context.manifests.find(({ name }) => name === 'mailer')?.functions.sendEmail?.arguments ?? {}
  const values = exampleMail(context)
  return sendForm(
    { action: 'call', path: 'functionCall.arguments', button: 'Send' },
    { route: 'mailer', function: 'sendEmail' },
    html`<div class="unseen" id="step-send" data-live><input type="hidden" data-extra="deployment" value="${newestMailer(context) ?? ''}"></div>
    <details class="more" id="mail-fields"><summary>To ${values.to}: “${values.subject}”</summary>
    <div class="fields">${schemaFields(schema, { prefix: 'start', values, only: ['to', 'subject', 'htmlBody'] })}</div></details>`,
  )
}

function latest(context: PageContext): Html {
  const entries = context.timeline.list({ text: '', route: '', outcome: '', walk: false })
  if (entries.length === 0) return empty('No event yet', 'Each event shows up here with its calls.')
  return html`<ol class="rows short">${timelineRows(context, entries.slice(0, EVENTS_SHOWN))}</ol>`
}

function latestMail({ world }: PageContext): Html {
  const messages = world.mail.emulator?.messages ?? []
  if (messages.length === 0)
    return empty(
      'No mail yet',
      'The mail that the provider accepts shows up here. It does not leave this machine.',
    )
  const mails = messages.slice(-MAILS_SHOWN).reverse()
  return html`<p class="tally"><strong data-count="mail">${plural(messages.length, 'mail')}</strong> accepted by the provider</p>
    <ul class="mails in-line">${mails.map((mail) => mailItem(mail))}</ul>`
}
