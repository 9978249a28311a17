/**
 * Metrics: what the host reported over time, for each deployment.
 *
 * @module
 */
import type { Metric } from '@org/core'
import type { EmulatedDeployment } from '@org/core/testing'
import { html } from 'hono/html'
import type { PageContext } from './context.ts'
import { actionButton, clock, count, empty, type Html } from './html.ts'
import type { View } from './layout.ts'
import { plot } from './plot.ts'

const MOST_POINTS = 500

/** The view. */
export function metricsView(context: PageContext): View {
  return {
    title: 'Metrics',
    lead: 'What METRIC_UPDATE reported. A platform asks every few minutes; here you ask.',
    body: html`<div id="metrics" data-live>${metricCards(context)}</div>`,
  }
}

function metricCards(context: PageContext): Html {
  const { deployments } = context.world.platform
  const live = [...deployments.values()]
    .filter(({ status, metrics }) => metrics.length > 0 || status !== 'stopped')
    .reverse()
  if (live.length === 0)
    return empty(
      'No deployment yet',
      html`<a href="/deployments">Deploy something</a>, and read its metrics here.`,
    )
  return html`${live.map((deployment) => deploymentMetrics(context, deployment))}`
}

function deploymentMetrics(context: PageContext, { id, metrics, status }: EmulatedDeployment): Html {
  const route = context.world.deploymentRoutes.get(id) ?? ''
  const described = context.manifests.find(({ name }) => name === route)?.metrics ?? {}
  const byName = Map.groupBy(metrics, ({ name }) => name)
  const event = { route, deployment: id, event: 'METRIC_UPDATE' }
  return html`<section class="card" aria-label="Metrics of ${id}">
    <header class="card-title"><h2><code>${id}</code></h2> <span class="muted">${route}</span>
      ${status === 'stopped' ? '' : html`<span class="push">${actionButton('Read metrics', 'deployment-event', event)}</span>`}</header>
    ${
      byName.size === 0
        ? html`<p class="hint">Nothing was reported yet.</p>`
        : html`<div class="plots">${[...byName].map(([name, points]) => metricPlot(name, points, described[name]?.description ?? ''))}</div>`
    }</section>`
}

function metricPlot(name: string, all: readonly Metric[], description: string): Html {
  const points = all.slice(-MOST_POINTS)
  const last = points.at(-1)
  const before = points.at(-2)
  if (!last) return html``
  const change = before ? last.value - before.value : 0
  const text = change === 0 ? 'unchanged' : `${change > 0 ? '+' : '−'}${format(Math.abs(change))}`
  return html`<figure class="metric"><figcaption><strong>${name}</strong><span class="muted">${description}</span></figcaption>
    <p class="metric-value">${format(last.value)}${last.unit ? html` <span class="unit">${last.unit}</span>` : ''} <span class="muted">${before ? text : 'first reading'}</span></p>
    ${plot(
      points.map(({ value, timestamp }) => ({ at: Date.parse(timestamp), value })),
      name,
    )}
    <details class="more" id="numbers-${name}"><summary>${count(points.length, 'reading')}</summary>
      <table><thead><tr><th>Time</th><th class="figure">Value</th></tr></thead><tbody>${points
        .slice(-20)
        .reverse()
        .map(
          ({ timestamp, value }) =>
            html`<tr><td>${clock(timestamp)}</td><td class="figure">${format(value)}</td></tr>`,
        )}</tbody></table></details>
  </figure>`
}

function format(value: number): string {
  return value.toLocaleString('en-US', { maximumFractionDigits: 2 })
}
