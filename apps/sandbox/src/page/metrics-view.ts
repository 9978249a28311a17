/**
 * Metrics: the reported values over time, for each deployment.
 *
 * @module
 */
import type { Metric } from '@org/core'
import { html } from 'hono/html'
import { plural } from '../world/text.ts'
import type { PageContext } from './context.ts'
import { actionButton, clock, empty, type Html, table, type View } from './html.ts'

const MOST_POINTS = 500
const MOST_ROWS = 20
const MOST_CIRCLES = 60
const WIDTH = 320
const HEIGHT = 96
const MARGIN = 6

/** The view. */
export function metricsView(context: PageContext): View {
  const shown = context
    .deployments()
    .filter(({ status, metrics }) => metrics.length > 0 || status !== 'stopped')
  const hint = html`<a href="/deployments">Deploy something</a>, and read its metrics here.`
  return {
    title: 'Metrics',
    lead: 'The values that METRIC_UPDATE reported. A platform asks every few minutes; here you ask.',
    body: html`<div id="metrics" data-live>${
      shown.length === 0
        ? empty('No deployment yet', hint)
        : shown.map((deployment) => metricsCard(context, deployment))
    }</div>`,
  }
}

function metricsCard(
  { manifests }: PageContext,
  { id, route, metrics, status }: ReturnType<PageContext['deployments']>[number],
): Html {
  const described = manifests.find(({ name }) => name === route)?.metrics ?? {}
  const plots = [...Map.groupBy(metrics, ({ name }) => name)].map(([name, points]) =>
    metricPlot(id, name, described[name]?.description ?? '', points.slice(-MOST_POINTS)),
  )
  const button = actionButton('Read metrics', 'deployment-event', {
    route,
    deployment: id,
    event: 'METRIC_UPDATE',
  })
  return html`<section class="card" aria-label="Metrics of ${id}">
    <header class="card-title"><h2><code>${id}</code></h2> <span class="muted">${route}</span>
      ${status === 'stopped' ? '' : html`<span class="push">${button}</span>`}</header>
    ${plots.length === 0 ? html`<p class="hint">No values yet.</p>` : html`<div class="plots">${plots}</div>`}</section>`
}

function metricPlot(id: string, name: string, description: string, points: readonly Metric[]): Html {
  const last = points.at(-1)
  const before = points.at(-2)
  if (!last) return html``
  const change = before ? last.value - before.value : 0
  const text = change === 0 ? 'unchanged' : `${change > 0 ? '+' : '−'}${format(Math.abs(change))}`
  const rows = points.slice(-MOST_ROWS).map(({ timestamp, value }) => [clock(timestamp), format(value)])
  return html`<figure class="metric"><figcaption><strong>${name}</strong><span class="muted">${description}</span></figcaption>
    <p class="metric-value">${format(last.value)}${last.unit ? html` <span class="unit">${last.unit}</span>` : ''} <span class="muted">${before ? text : 'first reading'}</span></p>
    ${plot(points, `${name}: ${plural(points.length, 'reading')}, the last one ${last.value}`)}
    <details class="more" id="numbers-${id}-${name}"><summary>${plural(points.length, 'reading')}</summary>
      ${table(['Time', 'Value'], rows.reverse(), ['Value'])}</details>
  </figure>`
}

/** A line as SVG, with the lowest and the highest value and the first and the last time. */
function plot(points: readonly Metric[], summary: string): Html {
  const times = points.map(({ timestamp }) => Date.parse(timestamp))
  const values = points.map(({ value }) => value)
  const [lowest, highest] = [Math.min(0, ...values), Math.max(1, ...values)]
  const [first = 0, last = 0] = [times[0], times.at(-1)]
  const bottom = HEIGHT - MARGIN
  const spots = points.map(({ value }, index) => {
    const share = first === last ? 1 : ((times[index] ?? first) - first) / (last - first)
    const x = MARGIN + share * (WIDTH - 2 * MARGIN)
    const y = bottom - ((value - lowest) / (highest - lowest)) * (HEIGHT - 2 * MARGIN)
    return { x: x.toFixed(1), y: y.toFixed(1) }
  })
  const line = spots.map(({ x, y }) => `${x},${y}`).join(' ')
  const area = `${spots[0]?.x},${bottom} ${line} ${spots.at(-1)?.x},${bottom}`
  const circles = spots.map(({ x, y }) => html`<circle class="point" cx="${x}" cy="${y}" r="2.5"/>`)
  return html`<div class="plot"><svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${summary}">
    <line class="axis" x1="0" x2="${WIDTH}" y1="${bottom}" y2="${bottom}"/>
    <polygon class="area" points="${area}"/><polyline class="line" points="${line}"/>${points.length <= MOST_CIRCLES ? circles : ''}</svg>
    <p class="plot-axis"><span>${clock(first)}</span><span>${format(lowest)} to ${format(highest)}</span><span>${clock(last)}</span></p></div>`
}

function format(value: number): string {
  return value.toLocaleString('en-US', { maximumFractionDigits: 2 })
}
