/** The start: what the host is worth, and four steps that show it. */
import { html } from 'hono/html'
import { count } from '../world/text.ts'
import { hasFailed, hasSucceeded } from '../world/timeline.ts'
import { mostAttempts } from './attempts.ts'
import type { PageContext } from './context.ts'
import { actionButton, type Html, type View } from './html.ts'
import { effectsOf, groupsOf } from './timeline-rows.ts'
import { verdict } from './verdict.ts'
import { waterfall } from './waterfall.ts'

/** A first mail. */
const exampleMail = {
  to: 'ada@example.com',
  subject: 'Your order is on its way',
  htmlBody: '<h1>Hello Ada,</h1>\n<p>your order left the house today.</p>',
}
const ARROW = html`<li class="wide" aria-hidden="true">→</li>`
const NEXT = html`<li class="step"><div class="row"><a class="button primary" href="/timeline?new=mailer/sendEmail">Write an event of your own</a></div></li>`

export function startView(context: PageContext): View {
  const steps = stepsOf(context)
  const next = steps.findIndex(({ done }) => !done)
  return {
    title: 'Start',
    body: html`<div class="start"><header><h1>Every event takes effect once</h1>
      <p class="muted">A platform sends events, twice or out of order. Providers fail halfway. The host between them acts once, and can prove it.</p></header>
      <div id="figures" data-live>${figures(context)}</div>
      <div class="columns">
        <ol class="steps card" id="tour" aria-label="Try it in four steps" data-live>${steps.map((step, index) => stepRow(step, index, index === next))}${next === -1 && NEXT}</ol>
        <section class="card" id="story" aria-label="What has just happened" data-live>${story(context)}</section>
      </div></div>`,
  }
}

/** Platform → Host → Provider, with the figures of all events. */
function figures({ timeline }: PageContext): Html {
  const events = timeline.list()
  let [retries, replays, calls, twice] = [0, 0, 0, 0]
  for (const group of groupsOf(events).values()) {
    twice += effectsOf(group).twice
    for (const entry of group) {
      calls += entry.calls.filter(({ to }) => to === 'provider').length
      retries += Math.max(0, mostAttempts(entry.calls) - 1)
      replays += entry.response?.replayed ? 1 : 0
    }
  }
  const figure = (value: number, label: string, look = '') =>
    html`<span class="figure ${look}"><strong>${count(value)}</strong> ${label}</span>`
  const place = (name: string, ...content: Html[]) =>
    html`<li class="card"><span class="small">${name}</span>${content}</li>`
  return html`<ol class="strip row" aria-label="What has happened so far">
    ${place('Platform', figure(events.length, 'events'))}
    ${ARROW}${place('Host', figure(retries, retries === 1 ? 'retry' : 'retries'), figure(replays, replays === 1 ? 'replay' : 'replays'))}
    ${ARROW}${place('Provider', figure(calls, 'calls'), figure(twice, 'effects repeated', twice > 0 ? 'bad' : 'ok'))}</ol>`
}

function stepRow({ title, text, button, done }: Step, index: number, isNext: boolean): Html {
  const mark = html`<span class="step-mark" aria-hidden="true">${done ? '✓' : index + 1}</span>`
  const link =
    done && html`<a class="push small" href="/timeline?event=${done.number}">event ${done.number}</a>`
  return html`<li class="step ${done && 'done'}" ${isNext && html`aria-current="step"`}><div class="row">${mark}<h2>${title}</h2>${done && html`<span class="visually-hidden">done</span>`}${link}</div>
    ${isNext && html`<div class="step-body"><p>${text}</p>${button}</div>`}</li>`
}

type Step = ReturnType<typeof stepsOf>[number]

function stepsOf(context: PageContext) {
  const { timeline } = context
  const visits = timeline.list().filter(({ source }) => source === 'page')
  const mails = visits.filter(({ subject }) => subject === 'sendEmail')
  const sent = mails.findLast(hasSucceeded)
  const running = context.deployments().find((one) => one.status === 'running' && one.route === 'mailer')?.id
  const button = (label: string, action: string, body: object) =>
    actionButton(label, action, body, { look: 'primary', target: 'quiet' })
  const send = (label: string, event: object) => button(label, 'event', { route: 'mailer', event })
  const again = (label: string, id: string, fault: string) =>
    button(label, 'again', { number: sent?.number, id, fault })
  const { to, subject } = exampleMail
  const deployment = running === undefined ? {} : { deployment: { id: running } }
  const functionCall = { name: 'sendEmail', arguments: exampleMail }
  const created = { id: context.freeId('mailer'), inputs: {} }
  return [
    {
      title: 'Deploy the mailer',
      text: 'The host checks the token at the provider, and publishes the outputs that senders need.',
      button: send('Deploy', { name: 'DEPLOYMENT_CREATED', deployment: created }),
      done: visits.findLast(
        (entry) => entry.event === 'DEPLOYMENT_CREATED' && entry.route === 'mailer' && hasSucceeded(entry),
      ),
    },
    {
      title: 'Send a mail',
      text: html`To ${to}: “${subject}”. <a href="/timeline?new=mailer/sendEmail">Change it</a>`,
      button: send('Send', { name: 'FUNCTION_CALL', functionCall, ...deployment }),
      done: sent,
    },
    {
      title: 'Break the provider',
      text: html`It answers <code>429</code>, too many requests. Nothing was sent, so the host waits and tries again.`,
      button: again('Break it, and send', 'new', 'rate-limit'),
      done: mails.findLast((entry) => hasSucceeded(entry) && entry.calls.some(hasFailed)),
    },
    {
      title: 'Lose the response, deliver again',
      text: 'The provider sends the mail, but its response is lost. The platform delivers the event again. A host that guesses would send a second mail.',
      button: again('Lose it, and deliver again', 'lost', 'cut-after'),
      done: mails.findLast(({ response }) => response?.replayed),
    },
  ]
}

/** The sentence and the waterfall of the step just made; before the first one, of a retry in the walk. */
function story(context: PageContext): Html {
  const { timeline, messages, eventOfMail } = context
  const events = timeline.list()
  const entry =
    events.find(({ source, response }) => source === 'page' && response !== undefined) ??
    events.find(({ subject, calls }) => subject !== undefined && mostAttempts(calls) > 1) ??
    events[0]
  if (!entry)
    return html`<h2>Nothing has happened yet</h2><p class="muted">The first step sends an event to the host.</p>`
  const group = timeline.deliveriesOf(entry)
  const first = group.find(({ calls }) => calls.length > 0) ?? entry
  const isUnknown = entry.subject === 'sendEmail' && group.some(({ code }) => code === 'outcome_unknown')
  const isLost = isUnknown && group.length > 1 && effectsOf(group).effects === 1
  // No event knows the mail whose response was lost.
  const mail = messages.findLast(({ messageId }) => !eventOfMail.has(messageId))
  const lost = html`<section class="verdict ok" aria-label="What happened"><p><strong>1 mail, ${group.length} deliveries.</strong> The provider sent it, and its response was lost. The host did not guess: it answered “outcome unknown”, and gave the second delivery the same answer without a call.</p>
    <p class="row next"><span aria-hidden="true">→</span><a href="/mailbox?mail=${mail?.messageId}">See the one mail</a></p></section>`
  const link = (number: number) => html`<a class="muted" href="/timeline?event=${number}">#${number}</a>`
  const title =
    first === entry ? link(entry.number) : html`${link(first.number)}, replayed as ${link(entry.number)}`
  return html`<header class="row"><h2>${entry.subject ?? entry.event} ${title}</h2>
      <span class="push small">${entry.source === 'walk' ? 'in the walk, at the start' : 'just now'}</span></header>
    ${isLost && mail ? lost : verdict(context, entry)}
    ${waterfall(context, first, (index) => `/timeline?event=${first.number}&tab=calls&call=${index}`)}`
}
