/** Says in a sentence how an event ended, and names the next step. */
import { html } from 'hono/html'
import { at, listOf, parse } from '../world/json.ts'
import { plural, truncate } from '../world/text.ts'
import { hasFailed, type TimelineEntry } from '../world/timeline.ts'
import type { PageContext } from './context.ts'
import { actionButton, duration, type Html, type Tone } from './html.ts'
import { attemptsOf, mostAttempts } from './waterfall.ts'

interface Verdict {
  tone: Tone
  title: string
  text: string
  /** The next steps, the best first. */
  next: readonly Html[]
}

const LONGEST_TEXT = 600

/** The verdict on an event, with its next steps. */
export function verdict(context: PageContext, entry: TimelineEntry): Html {
  const { tone, title, text, next } = judge(context, entry)
  const shown = context.mask({ title, text: truncate(text, LONGEST_TEXT) })
  const faults = listOf(at(bodyOf(entry), 'errors')).slice(0, 5)
  return html`<section class="verdict ${tone}" aria-label="What happened">
    <p><strong>${shown.title}.</strong> ${shown.text}</p>
    ${faults.length > 0 ? html`<ul>${faults.map((fault) => html`<li><code>${at(fault, 'path')}</code> ${context.mask({ message: at(fault, 'message') }).message}</li>`)}</ul>` : ''}
    ${next.length > 0 ? html`<p class="row next"><span aria-hidden="true">→</span>${next}</p>` : ''}</section>`
}

/** The verdict in words. */
export function judge(context: PageContext, entry: TimelineEntry): Verdict {
  const { response, calls } = entry
  if (!response) return { tone: 'busy', title: 'The host is working on it', text: '', next: [] }
  const body = bodyOf(entry)
  if (response.status >= 400) return judgeFailure(context, entry, body)
  const { number, subject, event, durationMs, deployment, route } = entry
  const look = placesOf(context, entry)
  const newId = again('Deliver with a new id', number, 'new')
  if (response.replayed) {
    const [first] = context.timeline
      .deliveriesOf(entry)
      .filter((one) => one.response && !one.response.replayed)
    const text = 'The host had handled this delivery id before, and sent the response that it recorded.'
    const link = first
      ? [html`<a href="/timeline?event=${first.number}">The first delivery, #${first.number}</a>`]
      : []
    return { tone: 'ok', title: 'Replayed: nothing happened twice', text, next: [...link, newId] }
  }
  const state = at(body, 'status')
  if (state === 'ignored')
    return { tone: 'idle', title: 'Ignored', text: String(at(body, 'reason')), next: [] }
  if (state === 'unhealthy') {
    const reasons = listOf(at(body, 'checks')).flatMap((check) => at(check, 'message') ?? [])
    const text = `The check itself worked. ${reasons.join(' ')}`
    return {
      tone: 'warn',
      title: 'The provider is unhealthy',
      text,
      next: [again('Check again', number, 'new')],
    }
  }
  const results = listOf(at(body, 'result', 'results')).map((result) => at(result, 'status'))
  const tally = [...Map.groupBy(results, String)].map(([status, all]) => `${all.length} ${status}`).join(', ')
  const name = subject ?? event
  const took = `in ${duration(durationMs)}`
  if (results.some((status) => status === 'failed' || status === 'unknown')) {
    const text = `${tally}. The response has a result for each, in the order given.`
    return {
      tone: 'warn',
      title: `${name} worked in part`,
      text,
      next: [...look, edit(number, 'Edit and replay')],
    }
  }
  const [retried] = attemptsOf(calls).filter(({ attempt }) => attempt > 1)
  const failed = calls.filter(hasFailed)
  const deployed = deployment
    ? [html`<a href="/deployments?new=${route}#deployment-${deployment}">The deployment</a>`]
    : []
  const next = subject === undefined || look.length === 0 ? deployed : look
  if (retried) {
    const before = failed[0]
    const why = before?.status ? `answered ${before.status}` : `failed (${before?.failure})`
    const text = `The ${retried.call.to} ${why}; the host waited (${retried.wait?.reason}) and tried again.`
    const tries = plural(mostAttempts(calls), 'attempt')
    return {
      tone: failed.length < calls.length ? 'warn' : 'bad',
      title: `${name} worked ${took}, with ${tries}`,
      text,
      next,
    }
  }
  if (failed.length > 0) {
    const text = `${plural(failed.length, 'call')} failed, and the event did not need it.`
    return { tone: 'warn', title: `${name} worked ${took}`, text, next }
  }
  const provider = calls.filter(({ to }) => to === 'provider').length
  const text =
    provider === 0
      ? 'The host asked no provider.'
      : `The host made ${plural(provider, 'call')} to the provider.`
  return { tone: 'ok', title: `${name} worked ${took}`, text: tally ? `${tally}. ${text}` : text, next }
}

function judgeFailure(context: PageContext, entry: TimelineEntry, body: unknown): Verdict {
  const { number, code = '', response, body: sent } = entry
  const title = String(at(body, 'title') ?? `The host responded with ${response?.status}`)
  const text = String(at(body, 'detail') ?? '')
  const newId = again('Deliver with a new id', number, 'new')
  const same = again('Deliver again', number, 'same')
  const repair = sent === undefined ? [] : [edit(number, 'Edit and replay')]
  if (code === 'outcome_unknown')
    return { tone: 'warn', title, text, next: [...placesOf(context, entry), newId] }
  if (at(body, 'retryable') === true) {
    const others = context.timeline.deliveriesOf(entry).filter((one) => one.number < number)
    const link = others
      .slice(0, 1)
      .map((one) => html`<a href="/timeline?event=${one.number}">The other delivery, #${one.number}</a>`)
    return { tone: code === 'delivery_in_progress' ? 'warn' : 'bad', title, text, next: [...link, same] }
  }
  return { tone: 'bad', title, text, next: repair }
}

/** Where the effect of an event can be seen. */
function placesOf({ world }: PageContext, { calls }: TimelineEntry): Html[] {
  const origins = new Set(calls.map(({ url }) => new URL(url).origin))
  return [
    ...(origins.has(world.mail.url ?? '') ? [html`<a href="/mailbox">Look in the mailbox</a>`] : []),
    ...(origins.has(world.identityUrl) ? [html`<a href="/people">Look at the people</a>`] : []),
  ]
}

function again(label: string, number: number, id: string): Html {
  return actionButton(label, 'again', { number, id }, { look: 'link', target: 'follow' })
}

function edit(number: number, label: string): Html {
  return html`<a href="/timeline?edit=${number}">${label}</a>`
}

function bodyOf({ response }: TimelineEntry): unknown {
  return response && parse(response.text)
}
