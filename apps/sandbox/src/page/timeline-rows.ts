/** A line for the deliveries with one id: their worst state, their effects, and their longest time. */
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

/** The worst status of a group. */
export function worstStatus(group: Group): Html {
  const all = group.map((entry) => [judge(entry).tone, entry.response?.status ?? 'running'] as const)
  const [worst] = all.toSorted(([one], [other]) => order.indexOf(one) - order.indexOf(other))
  return worst ? status(...worst) : html``
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
  const [entry] = group
  if (!entry) throw new Error('A group has an event.')
  const { number, subject, event, deployment, route, source } = entry
  const attempts = Math.max(...group.map(({ calls }) => mostAttempts(calls)))
  const replays = group.filter(({ response }) => response?.replayed).length
  const repeated = [
    attempts > 1 && plural(attempts, 'attempt'),
    replays > 0 && plural(replays, 'replay'),
    group.length > replays + 1 && `${group.length} deliveries`,
  ].filter(Boolean)
  const code = group.find((one) => one.code !== undefined)?.code
  const shown = context.mask({ summary: entry.summary, where: shortenIds(deployment ?? route) })
  // A delivery without a response takes longer than the others took.
  const longest = Math.max(...group.map(({ durationMs = Number.POSITIVE_INFINITY }) => durationMs))
  return {
    id: `event-${number}`,
    url: address('/timeline', { ...query, event: String(number) }),
    look: `event-row ${source}`,
    cells: {
      number,
      state: worstStatus(group),
      [subject ? 'what' : 'what constant']: subject ?? event,
      summary: [
        code && html`<span class="tag">${code}</span>`,
        html`<span class="facts">${shown.summary}</span>`,
        repeated.length > 0 &&
          html`<span class="tries ${attempts > 1 ? 'warn' : ''}">${repeated.join(' · ')}</span>`,
        source === undefined && html`<span class="tag">${OUTSIDE}</span>`,
      ],
      where: shown.where,
      took: duration(Number.isFinite(longest) ? longest : undefined),
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
