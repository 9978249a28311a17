/** A line for each event. */
import { html } from 'hono/html'
import type { LogLine } from '../world/exchange.ts'
import { plural, shortenIds } from '../world/text.ts'
import { hasFailed, type TimelineCall, type TimelineEntry } from '../world/timeline.ts'
import type { PageContext } from './context.ts'
import { type Group, longestTime, worstStatus } from './groups.ts'
import { clock, duration, type Html, status } from './html.ts'
import { mostAttempts } from './waterfall.ts'

const OUTSIDE = 'from outside'

/**
 * A line for the deliveries with one id: their worst state, and their longest time.
 * @param place the address of the line; whether it is chosen; whether the tab key reaches it
 */
export function timelineRow(
  context: PageContext,
  group: Group,
  { url, chosen = false, isStop = true }: { url: string; chosen?: boolean; isStop?: boolean },
): Html | undefined {
  const [entry] = group
  if (!entry) return undefined
  const { number, subject, event, deployment, route, source } = entry
  const attempts = Math.max(...group.map(({ calls }) => mostAttempts(calls)))
  const replays = group.filter(({ response }) => response?.replayed).length
  const repeated = [
    attempts > 1 && plural(attempts, 'attempt'),
    replays > 0 && plural(replays, 'replay'),
    group.length > replays + 1 && `${group.length} deliveries`,
  ]
  const code = group.find((one) => one.code !== undefined)?.code
  const shown = context.mask({ summary: entry.summary, place: shortenIds(deployment ?? route) })
  return html`<li class="entry" id="event-${number}"><a class="line event-row" href="${url}" ${chosen && html`aria-current="true"`} ${!isStop && html`tabindex="-1"`}>
<span class="number small">${number}</span>
<span class="outcome">${worstStatus(group)}</span>
<strong class="what ${subject ? '' : 'constant'}">${subject ?? event}</strong>
<span class="summary">${code && html`<span class="tag">${code}</span>`}<span class="facts">${shown.summary}</span>${repeated.some(Boolean) && html`<span class="tries small ${attempts > 1 ? 'warn' : ''}">${repeated.filter(Boolean).join(' · ')}</span>`}${source !== 'page' && html`<span class="tag origin">${source ?? OUTSIDE}</span>`}</span>
<span class="where small">${shown.place}</span>
<span class="took small">${duration(longestTime(group))}</span>
<span class="when small">${clock(entry.at)}</span></a></li>`
}

export function callStatus(call: TimelineCall): Html {
  if (call.durationMs === undefined) return status('busy', 'sent')
  if (call.status === undefined) return status('bad', call.failure === 'connection cut' ? 'cut' : 'none')
  return status(hasFailed(call) ? 'bad' : 'ok', call.status)
}

/** The remarks on an event. */
export function tagsOf({ response, code = '', source = OUTSIDE }: TimelineEntry): string[] {
  return [response?.replayed ? 'replayed' : '', code, source === 'page' ? '' : source].filter(
    (tag) => tag !== '',
  )
}

/** The fields of a log line, each as `name=value`. */
export function fieldsOf({ data = {} }: LogLine): string[] {
  const toText = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))
  return Object.entries(data).map(([name, value]) => `${name}=${toText(value)}`)
}
