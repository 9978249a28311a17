/** A line for each event; where there is room, one for each of its calls below. */
import { html } from 'hono/html'
import type { LogLine } from '../world/exchange.ts'
import { plural, shortenIds } from '../world/text.ts'
import { hasFailed, type TimelineCall, type TimelineEntry } from '../world/timeline.ts'
import type { PageContext } from './context.ts'
import { clock, duration, type Html, status, type Tone } from './html.ts'
import { mostAttempts, pathOf } from './waterfall.ts'

/** One more row counts the remaining calls. */
const MOST_CALLS = 12
const OUTSIDE = 'from outside'
const ORIGIN = html`<span class="origin" role="img" aria-label="${OUTSIDE}" title="${OUTSIDE}">↘</span>`

interface RowOptions {
  /** The number of the event whose details are open. */
  chosen: number | undefined
  urlOf: (entry: TimelineEntry) => string
  /** How many deliveries a row stands for. */
  deliveries: (entry: TimelineEntry) => number
}

/** A line for each event. The list is one tab stop: the chosen line, or the first one. */
export function timelineRows(
  context: PageContext,
  entries: readonly TimelineEntry[],
  { chosen, urlOf, deliveries }: RowOptions,
): Html {
  const stop = entries.some(({ number }) => number === chosen) ? chosen : entries[0]?.number
  const row = (entry: TimelineEntry) => {
    const { number } = entry
    const state = html`${number === chosen && html`aria-current="true"`} ${number !== stop && html`tabindex="-1"`}`
    const line = eventRow(context, entry, urlOf(entry), state, deliveries(entry))
    return html`<li class="entry" id="event-${number}">${line}</li>`
  }
  return html`${entries.map(row)}`
}

/** A line for each event, with its calls. */
export function eventsWithCalls(context: PageContext, entries: readonly TimelineEntry[]): Html {
  const row = (entry: TimelineEntry) => {
    const { number, calls } = entry
    const url = `/timeline?event=${number}`
    const hidden = calls.length - MOST_CALLS
    return html`<li class="entry" id="event-${number}">${eventRow(context, entry, url)}
<ol class="calls">${calls.slice(0, MOST_CALLS).map((call, index) => callRow(context, entry, call, index))}
${hidden > 0 && html`<li><a class="line call-row" href="${url}"><span class="path">and ${hidden} more calls</span></a></li>`}</ol></li>`
  }
  return html`<ol class="rows">${entries.map(row)}</ol>`
}

function eventRow(
  context: PageContext,
  entry: TimelineEntry,
  url: string,
  state: unknown = '',
  deliveries = 1,
): Html {
  const { number, subject, event, deployment, route, durationMs, calls } = entry
  const attempts = mostAttempts(calls)
  const shown = context.mask({ summary: entry.summary, place: shortenIds(deployment ?? route) })
  // The number of deliveries says “replayed” already, and an icon where the event came from.
  const tags = tagsOf(entry).filter((tag) => tag !== OUTSIDE && !(deliveries > 1 && tag === 'replayed'))
  if (deliveries > 1) tags.push(`${deliveries} deliveries`)
  return html`<a class="line event-row" href="${url}" ${state}>
<span class="number small">${number}</span>
<span class="outcome">${entryStatus(entry)}</span>
<strong class="what ${subject ? '' : 'constant'}">${subject ?? event}</strong>
<span class="summary"><span class="facts">${shown.summary}</span>${tags.map((tag) => html`<span class="tag">${tag}</span>`)}${entry.source === undefined && ORIGIN}
${attempts > 1 && html`<span class="tries small">${plural(attempts, 'attempt')}</span>`}<span class="where small">${shown.place}</span></span>
<span class="took small">${duration(durationMs)}</span>
<span class="when small">${clock(entry.at)}</span></a>`
}

function callRow(
  context: PageContext,
  { number, deployment }: TimelineEntry,
  call: TimelineCall,
  index: number,
): Html {
  const { to, method, durationMs, detail } = call
  const shown = context.mask({ path: pathOf(call, deployment), detail })
  return html`<li><a class="line call-row" href="/timeline?event=${number}&tab=calls&call=${index}">
<span class="outcome">${callStatus(call)}</span>
<span class="path"><span class="method">${method}</span> ${shown.path}</span>
<span class="detail small">${shown.detail}</span>
<span class="peer small">${to}</span>
<span class="took small">${duration(durationMs)}</span></a></li>`
}

/** The status of an event. */
export function entryStatus({ response, calls }: TimelineEntry): Html {
  if (!response) return status('busy', 'running')
  const tone: Tone = response.status >= 400 ? 'bad' : calls.some(hasFailed) ? 'warn' : 'ok'
  return status(tone, response.status)
}

export function callStatus(call: TimelineCall): Html {
  if (call.durationMs === undefined) return status('busy', 'sent')
  if (call.status === undefined) return status('bad', call.failure === 'connection cut' ? 'cut' : 'none')
  return status(hasFailed(call) ? 'bad' : 'ok', call.status)
}

/** The remarks on an event. */
export function tagsOf({ response, code = '', source }: TimelineEntry): string[] {
  const origin = source === 'walk' ? 'walk' : source === undefined ? OUTSIDE : ''
  return [response?.replayed ? 'replayed' : '', code, origin].filter((tag) => tag !== '')
}

/** The fields of a log line, each as `name=value`. */
export function fieldsOf({ data = {} }: LogLine): string[] {
  const toText = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))
  return Object.entries(data).map(([name, value]) => `${name}=${toText(value)}`)
}
