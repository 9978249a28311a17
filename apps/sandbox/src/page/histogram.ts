/** The events over time, good and bad ones, and how long they took. A brush selects a time. */
import { html } from 'hono/html'
import { plural } from '../world/text.ts'
import type { TimelineEntry } from '../world/timeline.ts'
import { address, duration, type Html, type Query, timeOfDay } from './html.ts'
import type { TimelineFilter } from './search.ts'

const MOST_BARS = 60
/** A session that has just begun does not fill the width. */
const FEWEST_BARS = 12
/** The time of a bar. */
const STEPS_MS = [1, 2, 5, 15, 30, 60, 300, 900, 3_600].map((seconds) => seconds * 1_000)

const isBad = ({ response }: TimelineEntry) => response !== undefined && response.status >= 400

/**
 * Draws the events over time.
 *
 * @param entries newest first, of any time
 * @param shown the ones of the chosen time
 */
export function histogram(
  entries: readonly TimelineEntry[],
  shown: readonly TimelineEntry[],
  { from, to }: TimelineFilter,
  query: Query,
): Html | undefined {
  const [newest, oldest] = [entries[0]?.at, entries.at(-1)?.at]
  if (newest === undefined || oldest === undefined) return undefined
  const length = newest - oldest
  const step = STEPS_MS.find((one) => length < (MOST_BARS - 1) * one) ?? Math.ceil(length / (MOST_BARS - 1))
  const start = Math.floor(oldest / step) * step
  const count = Math.max(FEWEST_BARS, Math.floor((newest - start) / step) + 1)
  const end = start + count * step
  const bars = Array.from({ length: count }, () => ({ ok: 0, bad: 0 }))
  for (const entry of entries) {
    const bar = bars[Math.floor((entry.at - start) / step)]
    if (bar) bar[isBad(entry) ? 'bad' : 'ok'] += 1
  }
  const most = Math.max(...bars.map(({ ok, bad }) => ok + bad))
  const rect = (look: string, x: number, y: number, width: number, height: number) => {
    const [left, top, wide, high] = [x, y, width, height].map((share) => `${(share * 100).toFixed(2)}%`)
    return html`<rect class="${look}" x="${left}" y="${top}" width="${wide}" height="${high}"/>`
  }
  const column = (look: string, index: number, below: number, height: number) =>
    height > 0 && rect(look, (index + 0.1) / count, 1 - (below + height) / most, 0.8 / count, height / most)
  const chosen = Number.isFinite(from) && Number.isFinite(to)
  const place = (time: number) => Math.min(1, Math.max(0, (time - start) / (end - start)))
  const width = chosen ? Math.max(0.004, place(to) - place(from)) : 0
  const failed = shown.filter(isBad).length
  const times = shown.flatMap(({ durationMs }) => durationMs ?? []).sort((one, other) => one - other)
  const percentile = (share: number) =>
    duration(times[Math.min(times.length - 1, Math.floor(times.length * share))])
  const always = address('/timeline', { ...query, from: '', to: '', start: '' })
  const range = chosen
    ? html` · ${timeOfDay(from)}–${timeOfDay(to)} <a href="${always}">All times</a>`
    : html`<span class="wide"> · drag to choose a time</span>`
  return html`<svg class="bars" id="bars" data-from="${start}" data-to="${end}" role="img" aria-label="${plural(entries.length, 'event')} from ${timeOfDay(start)} to ${timeOfDay(end)}">
    ${rect('brush', chosen ? place(from) : 0, 0, width, 1)}${bars.map(({ ok, bad }, index) => [column('ok', index, 0, ok), column('bad', index, ok, bad)])}</svg>
  <p class="bars-text small"><span>${timeOfDay(start)}</span>
    <span><output>${plural(shown.length, 'event')}</output> · ${failed > 0 && html`<strong class="bad">${failed} failed</strong> · `}p50 <strong>${percentile(0.5)}</strong> · p95 <strong>${percentile(0.95)}</strong>${range}</span>
    <span>${timeOfDay(end)}</span></p>`
}
