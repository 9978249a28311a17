/** The start: a tour of the host in four clicks. */
import { html } from 'hono/html'
import { plural } from '../world/text.ts'
import { hasFailed, hasSucceeded, type TimelineEntry } from '../world/timeline.ts'
import type { PageContext } from './context.ts'
import { exampleMail } from './functions-view.ts'
import { actionButton, card, empty, type Html, hint, status, type View } from './html.ts'
import { mailItem } from './mailbox-view.ts'
import { eventsWithCalls } from './timeline-rows.ts'

const EVENTS_SHOWN = 5
const MAILS_SHOWN = 3

export function startView(context: PageContext): View {
  return {
    title: 'See it, try it, break it',
    lead: 'A platform sends events; the host handles them at a provider, and reports back. Four clicks show how.',
    body: html`<div class="columns">
      <ol id="tour" data-live>${tour(context).map(stepCard)}</ol>
      <div>${card('Mailbox', html`<div id="latest-mail" data-live>${latestMail(context)}</div>`, html`<a class="push" href="/mailbox">All mail</a>`)}
        ${card('Events', html`<div id="latest" data-live>${latestEvents(context)}</div>`, html`<a class="push" href="/timeline">Timeline</a>`)}
      </div></div>`,
  }
}

function stepCard({ title, text, button, done }: ReturnType<typeof tour>[number], index: number): Html {
  return html`<li class="card step"><header class="row"><span class="step-number" aria-hidden="true">${index + 1}</span><h2>${title}</h2>
    ${done && html`<a class="push" href="/timeline?event=${done.number}">${status('ok', 'done')}</a>`}</header>
    <p>${text}</p><div>${button}</div></li>`
}

function tour(context: PageContext) {
  const { timeline, world } = context
  const newest = (condition: (entry: TimelineEntry) => boolean) =>
    timeline.newest((entry) => entry.source === 'page' && condition(entry))
  const isMail = (entry: TimelineEntry) => entry.subject === 'sendEmail' && hasSucceeded(entry)
  const mail = exampleMail(context)
  const sent = newest(isMail)
  const running = context.deployments().find((one) => one.status === 'running' && one.route === 'mailer')?.id
  const button = (label: string, action: string, body: object) =>
    actionButton(label, action, body, { look: 'primary' })
  const again = (label: string, more: object) =>
    sent
      ? button(label, 'again', { number: sent.number, ...more })
      : html`<button type="button" class="button primary" disabled>Send a mail first</button>`
  const send = (name: string, more: object) => ({ route: 'mailer', event: { name, ...more } })
  return [
    {
      title: 'Deploy the mailer',
      text: 'The host verifies the shared token, and publishes the outputs that senders need.',
      button: running
        ? html`<p><code>${running}</code> is running. <a href="/deployments">Its outputs and log</a></p>`
        : button(
            'Deploy',
            'event',
            send('DEPLOYMENT_CREATED', { deployment: { id: context.freeId('mailer'), inputs: {} } }),
          ),
      done: newest(
        (entry) => entry.event === 'DEPLOYMENT_CREATED' && entry.route === 'mailer' && hasSucceeded(entry),
      ),
    },
    {
      title: 'Send a mail',
      text: html`To ${mail.to}: “${mail.subject}”. <a href="/functions?route=mailer&function=sendEmail">Change it</a>`,
      button: button(
        'Send',
        'event',
        send('FUNCTION_CALL', {
          functionCall: { name: 'sendEmail', arguments: mail },
          deployment: running && { id: running },
        }),
      ),
      done: sent,
    },
    {
      title: 'Break the provider',
      text: html`The next response is <code>429</code>, too many requests. Nothing was sent, so the host waits, and tries again.`,
      button: world.mail.emulator
        ? again('Break it, and send', { id: 'new', fault: 'rate-limit' })
        : hint('A real provider can’t be broken.'),
      done: newest((entry) => isMail(entry) && entry.calls.some(hasFailed)),
    },
    {
      title: 'Deliver it again',
      text: 'The host replays the recorded response: no call, and no second mail.',
      button: again('Deliver again', { id: 'same' }),
      done: newest((entry) => entry.subject === 'sendEmail' && entry.response?.replayed === true),
    },
  ]
}

function latestEvents(context: PageContext): Html {
  const entries = context.timeline.list().filter(({ source }) => source !== 'walk')
  if (entries.length === 0) return empty('No event yet', 'Each event shows up here with its calls.')
  return eventsWithCalls(context, entries.slice(0, EVENTS_SHOWN))
}

function latestMail({ world }: PageContext): Html {
  const messages = world.mail.emulator?.messages ?? []
  const none = 'The mail that the provider accepts shows up here. It does not leave this machine.'
  if (messages.length === 0) return empty('No mail yet', none)
  return html`<p><strong data-count="mail">${plural(messages.length, 'mail')}</strong> accepted by the provider</p>
    <ul class="mails">${messages
      .slice(-MAILS_SHOWN)
      .reverse()
      .map((mail) => mailItem(mail))}</ul>`
}
