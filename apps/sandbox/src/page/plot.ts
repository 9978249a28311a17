/**
 * A line over time as SVG: no library, and no script.
 *
 * @module
 */
import { html } from 'hono/html'
import { clock, type Html } from './html.ts'

/** One point of a line. */
export interface Point {
  /** Milliseconds since 1970. */
  at: number
  value: number
}

const WIDTH = 320
const HEIGHT = 96
const MARGIN = 6

/** Draws a line, with the least and the greatest value and the first and the last time beside it. */
export function plot(points: readonly Point[], title: string): Html {
  const values = points.map(({ value }) => value)
  const [least, most] = [Math.min(0, ...values), Math.max(1, ...values)]
  const [first, last] = [points[0], points.at(-1)]
  if (!first || !last) return html``
  const x = ({ at }: Point) =>
    first.at === last.at
      ? WIDTH - MARGIN
      : MARGIN + ((at - first.at) / (last.at - first.at)) * (WIDTH - 2 * MARGIN)
  const y = ({ value }: Point) => HEIGHT - MARGIN - ((value - least) / (most - least)) * (HEIGHT - 2 * MARGIN)
  const line = points.map((point) => `${x(point).toFixed(1)},${y(point).toFixed(1)}`).join(' ')
  const area = `${x(first).toFixed(1)},${HEIGHT - MARGIN} ${line} ${x(last).toFixed(1)},${HEIGHT - MARGIN}`
  const summary = `${title}: ${points.length} readings, the last one ${last.value}`
  return html`<div class="plot"><svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${summary}">
    <line class="axis" x1="0" x2="${WIDTH}" y1="${HEIGHT - MARGIN}" y2="${HEIGHT - MARGIN}"/>
    <polygon class="area" points="${area}"/><polyline class="line" points="${line}"/>
    ${points.length <= 60 ? points.map((point) => html`<circle class="point" cx="${x(point).toFixed(1)}" cy="${y(point).toFixed(1)}" r="2.5"/>`) : ''}</svg>
    <p class="plot-axis"><span>${clock(first.at)}</span><span>${least.toLocaleString('en-US')} to ${most.toLocaleString('en-US')}</span><span>${clock(last.at)}</span></p></div>`
}
