/** One event with all details. */
import { html } from 'hono/html'
import type { LogLine, Message, OutboundCall } from '../world/exchange.ts'
import { plural } from '../world/text.ts'
import { hasFailed, type TimelineEntry } from '../world/timeline.ts'
import type { PageContext } from './context.ts'
import { titleOf } from './faults.ts'
import type { Html, Query } from './html.ts'
import { actionButton, address, clock, code, current, duration, hint, panes, status, terms } from './html.ts'
import { effectsOf, fieldsOf, statusOf, tagsOf } from './timeline-rows.ts'
import { verdict } from './verdict.ts'
import { waterfall } from './waterfall.ts'

const SECRET = 'Contains its secrets; an event is signed now if there is a secret'

/** All details of an event. `query`: the address of the page: the open tab and the unfolded call. */
export function exchangeDetail(context: PageContext, entry: TimelineEntry, query: Query): Html {
  const { number, subject, event, calls, log, response } = entry
  const own = { ...query, event: String(number) }
  const urlOf = (index: number) => address('/timeline', { ...own, tab: 'calls', call: String(index) })
  const request = { headers: entry.headers, text: entry.body ?? 'The body was too long to keep.' }
  const failed = response !== undefined && response.status >= 400
  return html`<article class="exchange" aria-label="Event ${number}">
  <header class="row"><h2>${subject ?? event} <span class="muted">#${number}</span></h2>
    ${statusOf(entry)}${tagsOf(entry).map((tag) => html`<span class="tag">${tag}</span>`)}</header>
  ${facts(context, entry)}
  ${verdict(context, entry)}
  ${buttons(entry)}
  ${deliveries(context, entry)}
  ${waterfall(context, entry, urlOf)}
  ${panes(
    'Details',
    '/timeline',
    { ...own, call: '', tab: query.tab || (failed ? 'response' : '') },
    {
      request: ['Request', () => message(context, 'Request', request)],
      response: [
        'Response',
        () => (response ? message(context, 'Response', response) : hint('There is no response yet.')),
      ],
      calls: [
        `Calls ${calls.length}`,
        () =>
          calls.map((call, index) =>
            callDetail(context, call, `call-${number}-${index}`, query.call === String(index)),
          ),
      ],
      log: [`Log ${log.length}`, () => html`<ul class="log">${context.mask(log).map(logLine)}</ul>`],
    },
  )}</article>`
}

/** Its beginning is enough; the headers have all of it. */
const UUID = /^([\da-f]{8})-[\da-f-]{27}$/

/** Where an event went, with links to the deployment and to the mail that it names. */
function facts({ world, mailsOf }: PageContext, entry: TimelineEntry): Html {
  const { route, deployment = '', deliveryId, signed, at } = entry
  const mails = mailsOf(entry)
  const url = address('/deployments', { deployment })
  const isKnown = world.platform.deployments.has(deployment)
  const all = [
    html`<code>POST /${route}/webhook</code>`,
    isKnown ? html`<a href="${url}">${deployment}</a>` : deployment || 'no deployment',
    deliveryId
      ? html`<code title="${deliveryId}">${deliveryId.replace(UUID, '$1…')}</code>`
      : 'no id: not recorded',
    signed ? 'signed' : 'not signed',
    clock(at),
    ...(mails[0]
      ? [html`<a href="/mailbox?mail=${mails[0].messageId}">${plural(mails.length, 'mail')}</a>`]
      : []),
  ]
  return html`<ul class="facts-line">${all.map((fact) => html`<li>${fact}</li>`)}</ul>`
}

function buttons({ number, body }: TimelineEntry): Html | undefined {
  if (body === undefined) return undefined
  const again = (label: string, id: string, title: string) =>
    actionButton(label, 'again', { number, id }, { target: 'follow', title })
  return html`<div class="row">
    ${again('Deliver again', 'same', 'With the same id: the host replays the recorded response (r)')}
    <a class="button" href="/timeline?edit=${number}" title="e">Edit and replay</a>
    ${again('With a new id', 'new', 'As a new event: the effect happens once more')}
    ${again('Twice at once', 'twice', 'Two deliveries with one new id, at the same time')}
    ${actionButton('Copy as curl', 'copy', { number }, { target: 'clipboard', title: SECRET })}</div>`
}

/** The deliveries with the same id: what they did together, and a link to each. */
function deliveries({ timeline }: PageContext, entry: TimelineEntry): Html | undefined {
  const all = timeline.deliveriesOf(entry)
  if (all.length < 2) return undefined
  const { effects } = effectsOf(all)
  const perhaps = all.some(({ code }) => code === 'outcome_unknown') ? 'perhaps ' : ''
  const done = effects > 0 ? `${perhaps}${plural(effects, 'effect')}, ` : ''
  const link = (one: TimelineEntry) =>
    html`<li><a href="/timeline?event=${one.number}" ${current(one === entry)}>${statusOf(one)} #${one.number}${one.response?.replayed && ' replayed'}</a></li>`
  return html`<section class="row" aria-label="Deliveries"><strong>${done}${all.length} deliveries</strong>
    <ol class="row">${all.map(link)}</ol></section>`
}

function callDetail(context: PageContext, call: OutboundCall, id: string, isOpen: boolean): Html {
  const { to, method, startedMs, durationMs, failure = '', fault, request, response } = call
  const { path, url } = context.mask({ path: call.path, url: call.url })
  const said = call.status ?? (failure === 'connection cut' ? 'cut' : 'none')
  const state =
    durationMs === undefined ? status('busy', 'sent') : status(hasFailed(call) ? 'bad' : 'ok', said)
  return html`<details class="call" id="${id}" ${isOpen && html`open`}>
    <summary>${state} <code>${method} ${path}</code>
      <span class="muted">${to}, ${duration(durationMs)}, at ${duration(startedMs)}</span></summary>
    ${failure && html`<p class="notice bad">${failure.charAt(0).toUpperCase()}${failure.slice(1)}.</p>`}
    ${fault && html`<p class="notice warn">Injected: ${titleOf(fault)}.</p>`}
    <p class="hint"><code>${url}</code></p>
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
