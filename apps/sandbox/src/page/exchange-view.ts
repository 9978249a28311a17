/**
 * One event in every detail: what was sent and answered, and each call under it. And in short, as what came of
 * something that was done on the page.
 *
 * @module
 */
import { html } from 'hono/html'
import type { HeaderList } from '../exchange.ts'
import type { TimelineCall, TimelineEntry, WireMessage } from '../timeline.ts'
import type { PageContext } from './context.ts'
import { actionButton, clock, count, duration, type Html } from './html.ts'
import { callStatus, entryStatus, tagsOf, timelineRows } from './timeline-rows.ts'

/** Everything that is kept of an event. */
export function exchangeDetail(context: PageContext, entry: TimelineEntry, openCall?: number): Html {
  const { number, subject, event, route, deployment, deliveryId, durationMs, calls, log, answer } = entry
  const facts: [string, unknown][] = [
    ['Route', html`<code>POST /${route}/webhook</code>`],
    ['Deployment', deployment ? html`<code>${deployment}</code>` : 'none'],
    ['Delivery', deliveryId ? html`<code>${deliveryId}</code>` : 'without an id: nothing remembers it'],
    ['Received', html`${clock(entry.at)}, answered after ${duration(durationMs)}`],
  ]
  return html`<article class="exchange" aria-label="Event ${number}">
  <header><h2>${subject ?? event} <span class="muted">#${number}</span></h2>
    <p class="outcome-line">${entryStatus(entry)} ${tagsOf(entry).map((tag) => html`<span class="tag">${tag}</span>`)}</p></header>
  ${againButtons(entry)}
  <dl class="facts">${facts.map(([name, fact]) => html`<dt>${name}</dt><dd>${fact}</dd>`)}</dl>
  ${section(context, 'event', 'Event', { headers: entry.headers, text: entry.body ?? 'Too long to keep.' })}
  ${answer ? section(context, 'answer', 'Answer', answer) : html`<p class="hint">There is no answer yet.</p>`}
  <h3>${calls.length === 0 ? 'It called nobody' : `It caused ${count(calls.length, 'call')}`}</h3>
  ${calls.map((call, index) => callDetail(context, call, index, index === openCall))}
  ${
    log.length > 0
      ? html`<h3>What the host logged</h3><ul class="log">${context
          .mask([...log])
          .map(({ level, message }) => html`<li><span class="tag">${level}</span> ${message}</li>`)}</ul>`
      : ''
  }</article>`
}

/** What can be done with an event once more. */
function againButtons({ number, deliveryId, body }: TimelineEntry): Html {
  if (body === undefined) return html``
  const again = (label: string, id: string, title: string) =>
    actionButton(label, 'again', { number, id }, { target: '#again', title })
  return html`<div class="row">
    ${deliveryId ? again('Deliver again', 'same', 'With the same id: answered from the record') : ''}
    ${again('Deliver with a new id', 'new', 'As a new event: it happens once more')}
    ${again('Deliver twice at once', 'twice', 'Two deliveries with one new id, at the same time')}
    ${actionButton('Copy as curl', 'curl', { number }, { target: 'clipboard', title: 'Holds the event with its secrets; signed now where there is a secret' })}
  </div><div id="again" class="again" aria-live="polite"></div>`
}

function callDetail(context: PageContext, call: TimelineCall, index: number, open: boolean): Html {
  const { to, method, path, startedMs, durationMs, failure, request, answer } = call
  return html`<details class="call" id="call-${index}" ${open ? html`open` : ''}>
    <summary>${callStatus(call)} <span class="call-name"><span class="method">${method}</span> ${context.mask({ path }).path}</span>
      <span class="muted">${to}, ${duration(durationMs)}, at ${duration(startedMs)}</span></summary>
    ${failure ? html`<p class="notice bad">No answer: ${failure}.</p>` : ''}
    <p class="hint"><code>${context.mask({ url: call.url }).url}</code></p>
    ${section(context, `request-${index}`, 'Request', request)}
    ${answer.headers.length > 0 ? section(context, `reply-${index}`, 'Answer', answer) : ''}
  </details>`
}

function section(context: PageContext, id: string, title: string, { headers, text }: WireMessage): Html {
  return html`<section class="wire"><div class="wire-title"><h4>${title}</h4>${headersOf(context, headers, id)}</div>
    ${text === '' ? html`<p class="hint">The body is empty.</p>` : html`<pre tabindex="0" aria-label="${title}, body"><code>${context.maskText(text)}</code></pre>`}</section>`
}

function headersOf(context: PageContext, headers: HeaderList, id: string): Html {
  return html`<details class="headers" id="headers-${id}"><summary>${count(headers.length, 'header')}</summary>
    <dl>${context.maskHeaders(headers).map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl></details>`
}

/** What came of something that was done on the page: the events with their calls, and their answers. */
export function exchangeResult(context: PageContext, entries: readonly TimelineEntry[]): Html {
  if (entries.length === 0)
    return html`<p class="hint">The host took it, and it is no longer in the timeline.</p>`
  return html`<ol class="rows short">${timelineRows(context, entries)}</ol>
    ${entries.map(
      (entry) =>
        html`${
          entry.answer
            ? html`<section class="wire"><div class="wire-title"><h4>Answer${entries.length > 1 ? ` #${entry.number}` : ''}</h4>
            <a href="/timeline?event=${entry.number}">Everything about it</a></div>
            <pre tabindex="0" aria-label="Answer to event ${entry.number}"><code>${context.maskText(entry.answer.text)}</code></pre></section>`
            : ''
        }`,
    )}`
}
