/** One event with all details. */
import { html } from 'hono/html'
import type { LogLine, Message } from '../world/exchange.ts'
import { plural } from '../world/text.ts'
import type { TimelineCall, TimelineEntry } from '../world/timeline.ts'
import type { PageContext } from './context.ts'
import { titleOf } from './faults.ts'
import { effectsOf, worstStatus } from './groups.ts'
import type { Html, Query } from './html.ts'
import { actionButton, address, clock, code, duration, hint, menu, panes, status, terms } from './html.ts'
import { callStatus, fieldsOf, tagsOf } from './timeline-rows.ts'
import { verdict } from './verdict.ts'
import { waterfall } from './waterfall.ts'

const SECRET = 'Contains its secrets; an event is signed now if there is a secret'

/** All details of an event. `query`: the address of the page: the open tab and the unfolded call. */
export function exchangeDetail(context: PageContext, entry: TimelineEntry, query: Query): Html {
  const { number, subject, event, calls, log, response } = entry
  const { tab = '', call, ...rest } = query
  const urlOf = (more: Query) =>
    `/timeline?${new URLSearchParams({ ...rest, event: String(number), ...more })}`
  const request = { headers: entry.headers, text: entry.body ?? 'The body was too long to keep.' }
  const drawCalls = () =>
    calls.map((one, index) => callDetail(context, entry, one, index, String(index) === call))
  const failed = response !== undefined && response.status >= 400
  const open = { ...rest, event: String(number), tab: tab || (failed ? 'response' : '') }
  const answer = () => (response ? message(context, 'Response', response) : hint('There is no response yet.'))
  const lines = () => html`<ul class="log">${context.mask(log).map(logLine)}</ul>`
  return html`<article class="exchange" aria-label="Event ${number}">
  <header class="row"><h2>${subject ?? event} <span class="muted">#${number}</span></h2>
    ${worstStatus([entry])}${tagsOf(entry).map((tag) => html`<span class="tag">${tag}</span>`)}</header>
  ${facts(context, entry)}
  ${verdict(context, entry)}
  ${buttons(entry)}
  ${deliveries(context, entry)}
  ${waterfall(context, entry, (index) => urlOf({ tab: 'calls', call: String(index) }))}
  ${panes('Details', '/timeline', open, {
    request: ['Request', true, () => message(context, 'Request', request)],
    response: ['Response', true, answer],
    calls: [`Calls ${calls.length}`, true, () => (calls.length > 0 ? drawCalls() : hint('No call.'))],
    log: [`Log ${log.length}`, true, () => (log.length > 0 ? lines() : hint('No line.'))],
  })}</article>`
}

/** Its beginning is enough; the headers have all of it. */
const UUID = /^([\da-f]{8})-[\da-f-]{27}$/

/** Where an event went, with links to the deployment and to the mail that it names. */
function facts({ world, mailsOf }: PageContext, entry: TimelineEntry): Html {
  const { route, deployment = '', deliveryId, signed, at } = entry
  const mails = mailsOf(entry.number)
  const url = address('/deployments', { deployment })
  const all = [
    html`<code>POST /${route}/webhook</code>`,
    world.platform.deployments.has(deployment)
      ? html`<a href="${url}">${deployment}</a>`
      : deployment || 'no deployment',
    deliveryId
      ? html`<code title="${deliveryId}">${deliveryId.replace(UUID, '$1…')}</code>`
      : 'no id: not recorded',
    signed ? 'signed' : 'not signed',
    clock(at),
    ...(mails[0] ? [html`<a href="/mailbox?mail=${mails[0]}">${plural(mails.length, 'mail')}</a>`] : []),
  ]
  return html`<ul class="facts-line">${all.map((fact) => html`<li>${fact}</li>`)}</ul>`
}

function buttons({ number, body }: TimelineEntry): Html | undefined {
  if (body === undefined) return undefined
  const again = (label: string, id: string, title: string) =>
    actionButton(label, 'again', { number, id }, { target: 'follow', title })
  const copy = actionButton('Copy as curl', 'copy', { number }, { target: 'clipboard', title: SECRET })
  return html`<div class="row">
    ${again('Deliver again', 'same', 'With the same id: the host replays the recorded response')}
    <a class="button" href="/timeline?edit=${number}">Edit and replay</a>
    ${menu(
      'More',
      html`
      ${again('Deliver with a new id', 'new', 'As a new event: the effect happens once more')}
      ${again('Deliver twice at once', 'twice', 'Two deliveries with one new id, at the same time')}
      ${copy}`,
    )}
  </div>`
}

/** The deliveries with the same id: what they did together, and a link to each. */
function deliveries({ timeline }: PageContext, entry: TimelineEntry): Html | undefined {
  const all = timeline.deliveriesOf(entry)
  if (all.length < 2) return undefined
  const { effects } = effectsOf(all)
  const perhaps = all.some(({ code }) => code === 'outcome_unknown') ? 'perhaps ' : ''
  const done = effects > 0 ? `${perhaps}${plural(effects, 'effect')}, ` : ''
  const link = (one: TimelineEntry) =>
    html`<li><a href="/timeline?event=${one.number}" ${one === entry && html`aria-current="true"`}>${worstStatus([one])} #${one.number}${one.response?.replayed && ' replayed'}</a></li>`
  return html`<section class="row" aria-label="Deliveries"><strong>${done}${all.length} deliveries</strong>
    <ol class="row">${all.map(link)}</ol></section>`
}

function callDetail(
  context: PageContext,
  { number }: TimelineEntry,
  call: TimelineCall,
  index: number,
  open: boolean,
): Html {
  const { to, method, startedMs, durationMs, failure, fault, request, response } = call
  const { path, url } = context.mask({ path: call.path, url: call.url })
  return html`<details class="call" id="call-${number}-${index}" ${open && html`open`}>
    <summary>${callStatus(call)} <code>${method} ${path}</code>
      <span class="muted">${to}, ${duration(durationMs)}, at ${duration(startedMs)}</span></summary>
    ${failure && html`<p class="notice bad">${failure.charAt(0).toUpperCase()}${failure.slice(1)}.</p>`}
    ${fault && html`<p class="notice warn">Injected: ${titleOf(fault)}.</p>`}
    <p class="row hint"><code>${url}</code></p>
    <h3>Request</h3>${message(context, 'Request', request)}
    ${response.headers.length > 0 && html`<h3>Response</h3>${message(context, 'Response', response)}`}
  </details>`
}

function message(context: PageContext, title: string, { headers, text }: Omit<Message, 'body'>): Html {
  const shown = context.maskText(text)
  return html`<section class="wire">
    ${shown === '' ? hint('The body is empty.') : code(`${title}, body`, shown)}
    <details><summary>${plural(headers.length, 'header')}</summary>${terms(context.maskHeaders(headers))}</details></section>`
}

const tones = { debug: 'idle', info: 'idle', warn: 'warn', error: 'bad' } as const

function logLine(line: LogLine): Html {
  return html`<li>${status(tones[line.level], line.level)} ${line.message} <code class="muted">${fieldsOf(line).join(' ')}</code></li>`
}
