/** The time of an event: its calls in lanes, the waits between attempts, and what caused each one. */
import { html } from 'hono/html'
import type { OutboundCall } from '../world/exchange.ts'
import { shortenPath } from '../world/text.ts'
import { hasFailed, type TimelineEntry } from '../world/timeline.ts'
import { type Attempt, attemptsOf } from './attempts.ts'
import type { PageContext } from './context.ts'
import { titleOf } from './faults.ts'
import { duration, type Html, type Tone } from './html.ts'
import { judge } from './verdict.ts'

const MOST_MARKS = 5
const HATCH = html`<pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><line y2="6"/></pattern>`

/** Draws the time of an event. `urlOf`: the address of a call. */
export function waterfall(
  context: PageContext,
  entry: TimelineEntry,
  urlOf: (index: number) => string,
): Html {
  const { calls, durationMs, deployment = '' } = entry
  const attempts = attemptsOf(calls)
  const end = Math.max(durationMs ?? 0, 1, ...calls.map((call) => call.startedMs + (call.durationMs ?? 0)))
  const percent = (milliseconds: number) => `${((milliseconds * 100) / end).toFixed(2)}%`
  const step = stepOf(end)
  const marks = Array.from({ length: Math.floor(end / step) + 1 }, (_, index) => index * step)
  const grid = marks.map((at) => html`<line x1="${percent(at)}" x2="${percent(at)}" y1="0" y2="100%"/>`)
  const bar = (look: Tone | 'wait', fromMs: number, lengthMs: number) =>
    html`<rect class="${look}" x="${percent(fromMs)}" y="6" width="${percent(Math.max(lengthMs, end / 200))}" height="12" rx="2"/>`
  const plot = (bars: unknown) => html`<svg class="plot" aria-hidden="true">${grid}${bars}</svg>`
  // The event names the deployment.
  const own = `/deployments/${encodeURIComponent(deployment)}`

  const row = ({ call, index, attempt, wait }: Attempt) => {
    const { method, path, url, startedMs, durationMs: took, failure, fault } = call
    const tone: Tone = took === undefined ? 'busy' : hasFailed(call) ? 'bad' : 'ok'
    const short = shortenPath(path.replace(`${own}/`, '…/').replace(own, '/deployments/…'))
    const shown = context.mask({ path, short })
    const isTried = attempts.some((other) => other.attempt > 1 && other.call.url === url)
    const said = [call.status, failure].filter(Boolean).join(', ') || 'no response'
    const why = [
      wait && html`<span class="muted">${wait.text}</span>`,
      tone === 'bad' && html`<span class="muted bad">${said}</span>`,
      fault && html`<span class="muted warn">injected: ${titleOf(fault)}</span>`,
    ].filter(Boolean)
    const bars = [
      wait && bar('wait', wait.fromMs, startedMs - wait.fromMs),
      bar(tone, startedMs, took ?? end - startedMs),
    ]
    return html`<li><a class="line bar-row" href="${urlOf(index)}" title="${method} ${shown.path}">
      <span class="small"><code>${method}</code> ${shown.short}${isTried && html` <span class="tag">attempt ${attempt}</span>`}</span>
      ${plot(bars)} <span class="took">${duration(took)}</span></a>
      ${why.length > 0 && html`<p class="why small">${why}</p>`}</li>`
  }
  const lane = (title: string, to: OutboundCall['to']) => {
    const all = attempts.filter(({ call }) => call.to === to)
    return html`${all.length > 0 && html`<li class="small">${title}</li>`}${all.map(row)}`
  }
  const label = (at: number, index: number) =>
    html`<text x="${percent(at)}" y="11" ${index > 0 && html`text-anchor="${at > end * 0.93 ? 'end' : 'middle'}"`}>${duration(at)}</text>`
  return html`<section class="waterfall" aria-label="Time">
    <ol><li class="line bar-row"><span></span><svg aria-hidden="true">${HATCH}${marks.map(label)}</svg><span></span></li>
    <li class="line bar-row"><span class="small">Host</span>${plot(bar(judge(entry).tone, 0, durationMs ?? end))}<span class="took">${duration(durationMs)}</span></li>
    ${lane('Provider', 'provider')}${lane('Platform', 'platform')}</ol></section>`
}

/** The first of 1, 2, 5, 10, 20 … milliseconds with which an axis has few marks. */
function stepOf(end: number): number {
  const least = end / MOST_MARKS
  const scale = 10 ** Math.floor(Math.log10(least))
  return Math.max(1, [1, 2, 5, 10].map((step) => step * scale).find((step) => step >= least) ?? 1)
}
