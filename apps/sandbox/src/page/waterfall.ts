/** The time of an event: its calls in lanes, the waits between attempts, and what caused each one. */
import { html } from 'hono/html'
import { shortenPath } from '../world/text.ts'
import { hasFailed, type TimelineCall, type TimelineEntry } from '../world/timeline.ts'
import type { PageContext } from './context.ts'
import { titleOf } from './faults-view.ts'
import { duration, type Html, type Tone } from './html.ts'

const MOST_CALLS = 40
/** An axis has two to five marks, at one of these steps or at ten times as much. */
const STEPS = [1, 2, 5]
const MOST_MARKS = 5

/** A call, and its place among the attempts at the same thing. */
export interface Attempt {
  call: TimelineCall
  index: number
  /** From 1. */
  attempt: number
  /** The pause before the attempt; `undefined` for the first one. */
  wait: { fromMs: number; reason: string; text: string } | undefined
}

/** The calls with their attempts: a call that follows a failed one to the same place is another attempt. */
export function attemptsOf(calls: readonly TimelineCall[]): Attempt[] {
  const latest = new Map<string, Attempt>()
  return calls.map((call, index) => {
    const key = `${call.method} ${call.url}`
    const before = latest.get(key)
    const again = before && hasFailed(before.call) ? before : undefined
    const asked = again?.call.response.headers.find(([name]) => name === 'retry-after')?.[1]
    const fromMs = again ? again.call.startedMs + (again.call.durationMs ?? 0) : 0
    const reason = asked === undefined ? 'back-off' : `Retry-After: ${asked}`
    const text = `waited ${duration(call.startedMs - fromMs)} (${reason})`
    const attempt: Attempt = {
      call,
      index,
      attempt: (again?.attempt ?? 0) + 1,
      wait: again && { fromMs, reason, text },
    }
    latest.set(key, attempt)
    return attempt
  })
}

/** The path of a call, in short, and without the deployment, which the event names. */
export function pathOf({ path }: TimelineCall, deployment = ''): string {
  const own = `/deployments/${encodeURIComponent(deployment)}`
  return shortenPath(path.replace(`${own}/`, '…/').replace(own, '/deployments/…'))
}

/** The attempts at the call that needed most. */
export function mostAttempts(calls: readonly TimelineCall[]): number {
  return Math.max(0, ...attemptsOf(calls).map(({ attempt }) => attempt))
}

/**
 * Draws the time of an event.
 *
 * @param urlOf the address of a call
 */
export function waterfall(
  context: PageContext,
  { calls, durationMs, deployment, response }: TimelineEntry,
  urlOf: (index: number) => string,
): Html {
  const attempts = attemptsOf(calls)
  const end = Math.max(durationMs ?? 0, 1, ...calls.map((call) => call.startedMs + (call.durationMs ?? 0)))
  const percent = (milliseconds: number) => ((milliseconds * 100) / end).toFixed(2)
  const step = stepOf(end)
  const marks = Array.from({ length: Math.floor(end / step) + 1 }, (_, index) => index * step)
  const grid = marks.map((at) => html`<line x1="${percent(at)}%" x2="${percent(at)}%" y1="0" y2="100%"/>`)
  const plot = (content: unknown, label = '') =>
    html`<svg class="plot" ${label ? html`role="img" aria-label="${label}"` : html`aria-hidden="true"`}>${grid}${content}</svg>`
  const bar = (tone: Tone, fromMs: number, lengthMs: number) =>
    html`<rect class="${tone}" x="${percent(fromMs)}%" y="6" width="${percent(Math.max(lengthMs, end / 200))}%" height="12" rx="2"/>`
  const row = ({ call, index, attempt, wait }: Attempt) => {
    const { method, path, startedMs, durationMs: took, status, failure, fault } = call
    const tone: Tone = took === undefined ? 'busy' : hasFailed(call) ? 'bad' : 'ok'
    const pathname = pathOf(call, deployment)
    const tried = attempts.some((other) => other.attempt > 1 && other.call.url === call.url)
    const said = [status, failure].filter(Boolean).join(', ')
    return html`<li><a href="${urlOf(index)}" title="${method} ${context.mask({ path }).path}">
      <span class="call-label"><span class="method">${method}</span> ${context.mask({ pathname }).pathname}${tried ? html` <span class="tag">attempt ${attempt}</span>` : ''}</span>
      ${plot(html`${wait ? html`<rect class="wait" x="${percent(wait.fromMs)}%" y="6" width="${percent(startedMs - wait.fromMs)}%" height="12"/>` : ''}${bar(tone, startedMs, took ?? end - startedMs)}`)}
      <span class="took">${duration(took)}</span></a>
      ${wait || said !== '200' || fault ? html`<p class="why">${wait ? html`<span>${wait.text}</span>` : ''}${hasFailed(call) ? html`<span class="bad">${said || 'no response'}</span>` : ''}${fault ? html`<span class="warn">injected: ${titleOf(fault)}</span>` : ''}</p>` : ''}</li>`
  }
  const lane = (title: string, to: TimelineCall['to']) => {
    const own = attempts.filter(({ call }) => call.to === to)
    const hidden = own.length - MOST_CALLS
    return own.length === 0
      ? ''
      : html`<li class="lane">${title}</li>${own.slice(0, MOST_CALLS).map(row)}${hidden > 0 ? html`<li class="hint">and ${hidden} more calls</li>` : ''}`
  }
  const label = (at: number, index: number) =>
    html`<text x="${percent(at)}%" y="11" ${index === 0 ? '' : html`text-anchor="${at > end * 0.93 ? 'end' : 'middle'}"`}>${duration(at)}</text>`
  return html`<section class="waterfall" aria-label="Time">
    <svg class="hatching" aria-hidden="true"><defs><pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><line y2="6"/></pattern></defs></svg>
    <ol><li class="axis"><span></span><svg class="marks" aria-hidden="true">${marks.map(label)}</svg><span></span></li>
    <li><span class="call-label">Host</span>${plot(bar(response ? (response.status < 400 ? 'ok' : 'bad') : 'busy', 0, durationMs ?? end))}<span class="took">${duration(durationMs)}</span></li>
    ${lane('Provider', 'provider')}${lane('Platform', 'platform')}</ol></section>`
}

function stepOf(end: number): number {
  for (let scale = 1; ; scale *= 10) {
    const step = STEPS.find((one) => end / (one * scale) <= MOST_MARKS)
    if (step !== undefined) return step * scale
  }
}
