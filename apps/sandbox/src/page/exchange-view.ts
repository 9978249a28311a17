/** One event with all details, and the short result of an action. */
import { html } from 'hono/html'
import type { Message } from '../world/exchange.ts'
import { plural } from '../world/text.ts'
import type { TimelineCall, TimelineEntry } from '../world/timeline.ts'
import type { PageContext } from './context.ts'
import { actionButton, clock, code, duration, type Html, terms } from './html.ts'
import { callStatus, entryStatus, tagsOf, timelineRows } from './timeline-rows.ts'

/**
 * All details of an event.
 *
 * @param openCall the index of the call that is unfolded
 */
export function exchangeDetail(context: PageContext, entry: TimelineEntry, openCall?: number): Html {
  const { number, subject, event, route, deployment, deliveryId, durationMs, calls, log, response } = entry
  const request = { headers: entry.headers, text: entry.body ?? 'The body was too long to keep.' }
  return html`<article class="exchange" aria-label="Event ${number}">
  <header><h2>${subject ?? event} <span class="muted">#${number}</span></h2>
    <p>${entryStatus(entry)} ${tagsOf(entry).map((tag) => html`<span class="tag">${tag}</span>`)}</p></header>
  ${againButtons(entry)}
  ${terms([
    ['Route', html`<code>POST /${route}/webhook</code>`],
    ['Deployment', deployment ? html`<code>${deployment}</code>` : 'none'],
    ['Delivery', deliveryId ? html`<code>${deliveryId}</code>` : 'without an id: the host records nothing'],
    ['Received', html`${clock(entry.at)}, response after ${duration(durationMs)}`],
  ])}
  ${section(context, `event-${number}`, 'Event', request)}
  ${response ? section(context, `response-${number}`, 'Response', response) : html`<p class="hint">There is no response yet.</p>`}
  <h3>${calls.length === 0 ? 'No calls' : plural(calls.length, 'call')}</h3>
  ${calls.map((call, index) => callDetail(context, call, `${number}-${index}`, index === openCall))}
  ${
    log.length > 0
      ? html`<h3>Log of the host</h3><ul class="log">${context
          .mask([...log])
          .map(({ level, message }) => html`<li><span class="tag">${level}</span> ${message}</li>`)}</ul>`
      : ''
  }</article>`
}

function againButtons({ number, body }: TimelineEntry): Html {
  if (body === undefined) return html``
  const again = (label: string, id: string, title: string) =>
    actionButton(label, 'again', { number, id }, { target: `#again-${number}`, title })
  const curl = {
    target: 'clipboard',
    title: 'Contains the secrets of the event; signed now if there is a secret',
  }
  return html`<div class="row">
    ${again('Deliver again', 'same', 'With the same id: the host replays the recorded response')}
    ${again('Deliver with a new id', 'new', 'As a new event: the effect happens once more')}
    ${again('Deliver twice at once', 'twice', 'Two deliveries with one new id, at the same time')}
    ${actionButton('Copy as curl', 'curl', { number }, curl)}
  </div><div id="again-${number}" class="result" data-keep aria-live="polite"></div>`
}

function callDetail(context: PageContext, call: TimelineCall, id: string, open: boolean): Html {
  const { to, method, startedMs, durationMs, failure, request, response } = call
  const { path, url } = context.mask({ path: call.path, url: call.url })
  return html`<details class="call" id="call-${id}" ${open ? html`open` : ''}>
    <summary>${callStatus(call)} <span class="call-name"><span class="method">${method}</span> ${path}</span>
      <span class="muted">${to}, ${duration(durationMs)}, at ${duration(startedMs)}</span></summary>
    ${failure ? html`<p class="notice bad">No response: ${failure}.</p>` : ''}
    <p class="hint"><code>${url}</code></p>
    ${section(context, `request-${id}`, 'Request', request)}
    ${response.headers.length > 0 ? section(context, `response-${id}`, 'Response', response) : ''}
  </details>`
}

function section(context: PageContext, id: string, title: string, message: Omit<Message, 'body'>): Html {
  const text = context.maskText(message.text)
  return html`<section class="wire"><div class="wire-title"><h4>${title}</h4>
    <details class="headers" id="headers-${id}"><summary>${plural(message.headers.length, 'header')}</summary>${terms(context.maskHeaders(message.headers))}</details></div>
    ${text === '' ? html`<p class="hint">The body is empty.</p>` : code(`${title}, body`, text)}</section>`
}

/** The events that an action caused, with their calls and responses. */
export function exchangeResult(context: PageContext, entries: readonly TimelineEntry[]): Html {
  const response = ({ number, response }: TimelineEntry) =>
    response &&
    html`<section class="wire"><div class="wire-title"><h4>Response${entries.length > 1 ? ` #${number}` : ''}</h4>
      <a href="/timeline?event=${number}">All details</a></div>
      ${code(`Response to event ${number}`, context.maskText(response.text))}</section>`
  return html`<ol class="rows">${timelineRows(context, entries)}</ol>${entries.map((entry) => response(entry) ?? '')}`
}
