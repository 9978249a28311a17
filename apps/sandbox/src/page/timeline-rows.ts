/** A row for an event, and one for each of its calls. */
import { html } from 'hono/html'
import { shortenIds, shortenPath } from '../world/text.ts'
import { hasFailed, type TimelineCall, type TimelineEntry } from '../world/timeline.ts'
import type { PageContext } from './context.ts'
import { clock, duration, type Html, status, type Tone } from './html.ts'

/** One more row counts the remaining calls. */
const MOST_CALLS = 12

/** The rows of some events; the chosen one is marked. */
export function timelineRows(context: PageContext, entries: readonly TimelineEntry[], chosen?: number): Html {
  return html`${entries.map((entry) => timelineRow(context, entry, entry.number === chosen))}`
}

function timelineRow(context: PageContext, entry: TimelineEntry, chosen: boolean): Html {
  const { number, subject, event, route, deployment, durationMs, calls } = entry
  const hidden = calls.length - MOST_CALLS
  const whole = Math.max(durationMs ?? 0, ...calls.map((call) => call.startedMs + (call.durationMs ?? 0)))
  const place = shortenIds([route, deployment].filter(Boolean).join(' · '))
  return html`<li class="entry" id="event-${number}">
<a class="event-row" href="/timeline?event=${number}" ${chosen ? html`aria-current="true"` : ''}>
<span class="number">${number}</span>
<span class="outcome">${entryStatus(entry)}</span>
<span class="what"><strong>${subject ?? event}</strong>${tagsOf(entry).map((tag) => html` <span class="tag">${tag}</span>`)}</span>
<span class="where">${context.mask({ place }).place}</span>
<span class="took">${duration(durationMs)}</span>
<span class="when">${clock(entry.at)}</span></a>
<ol class="calls">${calls.slice(0, MOST_CALLS).map((call, index) => callRow(context, entry, call, index, whole))}
${hidden > 0 ? html`<li><a class="call-row" href="/timeline?event=${number}"><span class="peer"></span><span class="path">and ${hidden} more calls</span></a></li>` : ''}</ol></li>`
}

function callRow(
  context: PageContext,
  { number, deployment }: TimelineEntry,
  call: TimelineCall,
  index: number,
  whole: number,
): Html {
  const { to, method, path, durationMs, detail } = call
  // The row of the event names the deployment.
  const own = `/deployments/${encodeURIComponent(deployment ?? '')}`
  const rest = path.replace(`${own}/`, '…/').replace(own, '/deployments/…')
  const shown = context.mask({ path: shortenPath(rest), detail })
  return html`<li><a class="call-row" href="/timeline?event=${number}&call=${index}">
<span class="peer">${to}</span>
<span class="outcome">${callStatus(call)}</span>
<span class="path"><span class="method">${method}</span> ${shown.path}</span>
<span class="detail">${shown.detail}</span>
${bar(call, whole)}
<span class="took">${duration(durationMs)}</span></a></li>`
}

/** The time of the call within its event. */
function bar({ startedMs, durationMs, status: code }: TimelineCall, whole: number): Html {
  const scale = 100 / Math.max(whole, 1)
  const x = Math.min(98, startedMs * scale).toFixed(1)
  const width = Math.max(2, (durationMs ?? 0) * scale).toFixed(1)
  const tone = durationMs === undefined ? 'busy' : code === undefined || code >= 400 ? 'bad' : 'ok'
  return html`<svg class="bar ${tone}" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true"><rect x="${x}" y="1" width="${width}" height="6"/></svg>`
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
  return status(call.status < 400 ? 'ok' : 'bad', call.status)
}

/** The remarks on an event. */
export function tagsOf({ response, code = '', source, signed }: TimelineEntry): string[] {
  const origin = source === 'walk' ? 'walk' : source === undefined ? 'from outside' : ''
  const tags = [response?.replayed ? 'replayed' : '', code, signed ? 'signed' : '', origin]
  return tags.filter((tag) => tag !== '')
}
