/** A line for the deliveries with one id: it shows and opens the worst of them, and counts the others. */
import { html } from 'hono/html'
import type { LogLine, OutboundCall } from '../world/exchange.ts'
import { plural, shortenIds } from '../world/text.ts'
import { keyOf, type TimelineEntry } from '../world/timeline.ts'
import { mostAttempts } from './attempts.ts'
import type { PageContext } from './context.ts'
import { address, clock, duration, type Html, type Line, type Query, status, type Tone } from './html.ts'
import { judge } from './verdict.ts'

/** The deliveries with one id, newest first. */
export type Group = readonly TimelineEntry[]

/** Groups events, newest first. */
export function groupsOf(entries: readonly TimelineEntry[]): Map<string, Group> {
  return Map.groupBy(entries, keyOf)
}

const order: readonly Tone[] = ['busy', 'bad', 'warn', 'ok', 'idle']

export function statusOf(entry: TimelineEntry): Html {
  return status(judge(entry).tone, entry.response?.status ?? 'running')
}

/** The worst delivery; of several, the longest. */
function worstOf(group: Group): TimelineEntry | undefined {
  const rank = (entry: TimelineEntry) => order.indexOf(judge(entry).tone)
  const time = ({ durationMs = 0 }: TimelineEntry) => durationMs
  return group.toSorted((one, other) => rank(one) - rank(other) || time(other) - time(one))[0]
}

/** Whether a call changed something at the provider, also if its response was lost. */
function tookEffect({ to, method, status = 0, durationMs, fault }: OutboundCall): boolean {
  if (to !== 'provider' || method === 'GET' || durationMs === undefined) return false
  return fault && 'cut' in fault ? fault.cut !== 'before' : status >= 200 && status < 400 && !fault
}

/** The effects of a group at the provider, and how many of them repeat an earlier one. */
export function effectsOf(group: Group): { effects: number; twice: number } {
  const writes = group.flatMap(({ calls }) => calls.filter(tookEffect))
  const different = new Set(writes.map(({ method, url, request }) => `${method} ${url} ${request.text}`))
  return { effects: writes.length, twice: writes.length - different.size }
}

/** The line of a group. */
export function timelineRow(context: PageContext, group: Group, query: Query): Line {
  const [newest] = group
  const entry = worstOf(group)
  if (!newest || !entry) throw new Error('A group has an event.')
  const { number, subject, event, deployment, route, source, code } = entry
  const attempts = Math.max(...group.map(({ calls }) => mostAttempts(calls)))
  const replays = group.filter(({ response }) => response?.replayed).length
  const repeated = [
    attempts > 1 && plural(attempts, 'attempt'),
    replays > 0 && plural(replays, 'replay'),
    group.length > replays + 1 && `${group.length} deliveries`,
  ].filter(Boolean)
  const shown = context.mask({ summary: entry.summary, where: shortenIds(deployment ?? route) })
  return {
    id: `event-${newest.number}`,
    url: address('/timeline', { ...query, event: String(number) }),
    look: `event-row ${source}`,
    cells: {
      number,
      state: statusOf(entry),
      [subject ? 'what' : 'what constant']: subject ?? event,
      summary: [
        code && html`<span class="tag">${code}</span>`,
        shown.summary && html`<span class="facts">${shown.summary}</span>`,
        repeated.length > 0 &&
          html`<span class="tries ${attempts > 1 ? 'warn' : ''}">${repeated.join(' · ')}</span>`,
        source === undefined && html`<span class="tag outside">${OUTSIDE}</span>`,
      ],
      where: shown.where,
      took: duration(entry.durationMs),
      when: clock(entry.at),
    },
  }
}

const OUTSIDE = 'from outside'

/** The remarks on an event. */
export function tagsOf({ response, code = '', source = OUTSIDE }: TimelineEntry): string[] {
  return [response?.replayed ? 'replayed' : '', code, source === 'page' ? '' : source].filter(Boolean)
}

/** The fields of a log line, each as `name=value`. */
export function fieldsOf({ data = {} }: LogLine): string[] {
  const toText = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))
  return Object.entries(data).map(([name, value]) => `${name}=${toText(value)}`)
}
