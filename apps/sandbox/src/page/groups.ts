/** Deliveries with one id belong together: their worst state, their effects, and the figures of all events. */
import { hasFailed, type TimelineCall, type TimelineEntry } from '../world/timeline.ts'
import { status, type Tone } from './html.ts'
import { mostAttempts } from './waterfall.ts'

/** The deliveries with one id, newest first. */
export type Group = readonly TimelineEntry[]

export function keyOf({ route, deliveryId, number }: TimelineEntry): string {
  return deliveryId === undefined ? String(number) : `${route} ${deliveryId}`
}

/** Groups events, newest first. */
export function groupsOf(entries: readonly TimelineEntry[]): Map<string, Group> {
  return Map.groupBy(entries, keyOf)
}

const order: readonly Tone[] = ['busy', 'bad', 'warn', 'ok']

function toneOf({ response, calls }: TimelineEntry): Tone {
  if (!response) return 'busy'
  return response.status >= 400 ? 'bad' : calls.some(hasFailed) ? 'warn' : 'ok'
}

/** The worst status of a group. */
export function worstStatus(group: Group) {
  const [worst] = group.toSorted((one, other) => order.indexOf(toneOf(one)) - order.indexOf(toneOf(other)))
  return worst ? status(toneOf(worst), worst.response?.status ?? 'running') : ''
}

/** The longest time of a group; `undefined` while one delivery takes longer than the others took. */
export function longestTime(group: Group): number | undefined {
  const longest = Math.max(...group.map(({ durationMs = Number.POSITIVE_INFINITY }) => durationMs))
  return Number.isFinite(longest) ? longest : undefined
}

/** Whether a call changed something at the provider, also if its response was lost. */
function tookEffect({ to, method, status = 0, durationMs, fault }: TimelineCall): boolean {
  if (to !== 'provider' || method === 'GET' || durationMs === undefined) return false
  return fault && 'cut' in fault ? fault.cut !== 'before' : status >= 200 && status < 400 && !fault
}

/** The effects of a group at the provider, and how many of them repeat an earlier one. */
export function effectsOf(group: Group): { effects: number; twice: number } {
  const writes = group.flatMap(({ calls }) => calls.filter(tookEffect))
  const different = new Set(writes.map(({ method, url, request }) => `${method} ${url} ${request.text}`))
  return { effects: writes.length, twice: writes.length - different.size }
}

/** The figures of all events. */
export function figuresOf(entries: readonly TimelineEntry[]) {
  const figures = { events: entries.length, calls: 0, retries: 0, replays: 0, twice: 0 }
  for (const group of groupsOf(entries).values()) {
    figures.twice += effectsOf(group).twice
    for (const { calls, response } of group) {
      figures.calls += calls.filter(({ to }) => to === 'provider').length
      figures.retries += Math.max(0, mostAttempts(calls) - 1)
      if (response?.replayed) figures.replays += 1
    }
  }
  return figures
}
