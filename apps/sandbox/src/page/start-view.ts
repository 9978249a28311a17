/**
 * The start: what a webhook host is for, in four clicks.
 *
 * @module
 */
import { html } from 'hono/html'
import type { TimelineEntry } from '../timeline.ts'
import { isTrouble } from '../timeline-filter.ts'
import type { PageContext } from './context.ts'
import { isOurs } from './deliver.ts'
import { freeId } from './deployments-view.ts'
import { exampleMail } from './examples.ts'
import { actionButton, count, empty, type Html, status } from './html.ts'
import type { View } from './layout.ts'
import { mailItem } from './mailbox-view.ts'
import { schemaFields } from './schema-form.ts'
import { timelineRows } from './timeline-rows.ts'

const EVENTS_SHOWN = 5
const MAILS_SHOWN = 3

/** The view. */
export function startView(context: PageContext): View {
  const { world } = context
  return {
    title: 'See it, try it, break it',
    lead: 'A platform sends events; the host acts on each at a provider, and reports back. Four clicks show how.',
    body: html`<div class="columns start">
      <ol class="steps">
        ${step(
          context,
          1,
          'Deploy the mailer',
          'deployed',
          html`<p>The host verifies the shared token, and publishes what others need to send.</p>
          <div id="step-deploy" data-live>${deployButton(context)}</div>`,
        )}
        ${step(context, 2, 'Send a mail', 'sent', sendForm(context))}
        ${step(
          context,
          3,
          'Break the provider',
          'survived',
          html`<p>The next answer is <code>429</code>, too many requests. Nothing was sent, so the host waits, and tries again.</p>
          <div id="step-break" data-live>${whenSent(context, () => (world.mail.emulator ? actionButton('Break it, and send', 'break-and-repeat', {}, { look: 'primary' }) : html`<p class="hint">A real provider can’t be broken.</p>`))}</div>`,
        )}
        ${step(
          context,
          4,
          'Deliver it again',
          'replayed',
          html`<p>A redelivery is answered from the record: no call, and no second mail.</p>
          <div id="step-again" data-live>${whenSent(context, () => actionButton('Deliver again', 'repeat', {}, { look: 'primary' }))}</div>`,
        )}
      </ol>
      <div class="aside">
        <section class="card" aria-labelledby="mailbox"><header class="card-title"><h2 id="mailbox">Mailbox</h2><a class="push" href="/mailbox">All mail</a></header>
          <div id="latest-mail" data-live>${latestMail(context)}</div></section>
        <section class="card" aria-labelledby="happened"><header class="card-title"><h2 id="happened">What happened</h2><a class="push" href="/timeline">Timeline</a></header>
          <div id="latest" data-live>${latest(context)}</div></section>
      </div></div>`,
  }
}

/** What can be seen to have happened, from the newest event that shows it. */
const achieved = {
  deployed: (entry: TimelineEntry) =>
    entry.event === 'DEPLOYMENT_CREATED' && entry.route === 'mailer' && succeeded(entry),
  sent: (entry: TimelineEntry) => entry.subject === 'sendEmail' && succeeded(entry),
  survived: (entry: TimelineEntry) =>
    entry.subject === 'sendEmail' && succeeded(entry) && entry.calls.some(isTrouble),
  replayed: (entry: TimelineEntry) => entry.subject === 'sendEmail' && entry.answer?.replayed === true,
}

function succeeded({ answer }: TimelineEntry): boolean {
  return answer !== undefined && answer.status < 400
}

function find({ timeline }: PageContext, what: keyof typeof achieved): TimelineEntry | undefined {
  return timeline.newest((entry) => isOurs(entry) && achieved[what](entry))
}

function step(
  context: PageContext,
  number: number,
  title: string,
  goal: keyof typeof achieved,
  body: Html,
): Html {
  return html`<li class="card step"><header class="card-title"><span class="step-number" aria-hidden="true">${number}</span><h2>${title}</h2>
    <span class="push" id="goal-${goal}" data-live>${outcome(context, goal)}</span></header>${body}</li>`
}

function outcome(context: PageContext, goal: keyof typeof achieved): Html {
  const entry = find(context, goal)
  return entry
    ? html`<a href="/timeline?event=${entry.number}" class="plain">${status('ok', 'done')}</a>`
    : html``
}

function deployButton(context: PageContext): Html {
  const running = newestMailer(context)
  if (running)
    return html`<p><code>${running}</code> is running. <a href="/deployments">Its outputs and log</a></p>`
  const body = { route: 'mailer', deployment: freeId(context, 'mailer'), values: {} }
  return actionButton('Deploy', 'deploy', body, { look: 'primary' })
}

function newestMailer({ world }: PageContext): string | undefined {
  return [...world.platform.deployments.values()].findLast(
    ({ id, status: state }) => state === 'running' && world.deploymentRoutes.get(id) === 'mailer',
  )?.id
}

function sendForm(context: PageContext): Html {
  const schema = context.manifests.find(({ name }) => name === 'mailer')?.functions.sendEmail?.arguments ?? {}
  return html`<form data-send="call" data-faults="functionCall.arguments" novalidate>
    <input type="hidden" data-extra="route" value="mailer"><input type="hidden" data-extra="function" value="sendEmail">
    <div class="unseen" id="step-send" data-live><input type="hidden" data-extra="deployment" value="${newestMailer(context) ?? ''}"></div>
    <details class="more" id="mail-fields"><summary>To ${context.world.mail.to}: “${String(exampleMail(context).subject)}”</summary>
    <div class="fields">${schemaFields(schema, { prefix: 'start', values: exampleMail(context), only: ['to', 'subject', 'htmlBody'] })}</div></details>
    <p class="fault form-fault" role="alert" hidden></p>
    <button class="button primary">Send</button></form>`
}

function whenSent(context: PageContext, then: () => Html): Html {
  return find(context, 'sent')
    ? then()
    : html`<button type="button" class="button primary" disabled>${'Send a mail first'}</button>`
}

function latest(context: PageContext): Html {
  const entries = context.timeline
    .list({ text: '', route: '', outcome: '', walk: false })
    .slice(0, EVENTS_SHOWN)
  if (entries.length === 0)
    return empty('Nothing yet', 'Each event shows up here with every call that it causes.')
  return html`<ol class="rows short">${timelineRows(context, entries)}</ol>`
}

function latestMail({ world }: PageContext): Html {
  const messages = world.mail.emulator?.messages ?? []
  if (messages.length === 0)
    return empty('No mail yet', 'What the provider accepts shows up here. It goes no further.')
  return html`<p class="tally"><strong data-count="mail">${count(messages.length, 'mail')}</strong> accepted by the provider</p>
    <ul class="mails in-line">${messages
      .slice(-MAILS_SHOWN)
      .reverse()
      .map((mail) => mailItem(mail))}</ul>`
}
