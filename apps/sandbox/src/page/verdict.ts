/** Says in a sentence how an event ended, and names the next step. */
import { html } from 'hono/html'
import { at, listOf, parse } from '../world/json.ts'
import { plural, truncate } from '../world/text.ts'
import { hasFailed, type TimelineEntry } from '../world/timeline.ts'
import type { PageContext } from './context.ts'
import { actionButton, address, duration, type Html, type Tone } from './html.ts'
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
  const errors = context.mask(listOf(at(bodyOf(entry), 'errors')).slice(0, 5))
  const line = (error: unknown) => html`<li><code>${at(error, 'path')}</code> ${at(error, 'message')}</li>`
  return html`<section class="verdict ${tone}" aria-label="What happened">
    <p><strong>${shown.title}.</strong> ${shown.text}</p>
    ${errors.length > 0 && html`<ul>${errors.map(line)}</ul>`}
    ${next.length > 0 && html`<p class="row next"><span aria-hidden="true">→</span>${next}</p>`}</section>`
}

/** The verdict in words. */
export function judge(context: PageContext, entry: TimelineEntry): Verdict {
  const { response, calls, number, event, deployment } = entry
  if (!response) return { tone: 'busy', title: 'The host is working on it', text: '', next: [] }
  const body = bodyOf(entry)
  if (response.status >= 400) return judgeFailure(context, entry, body)
  if (response.replayed) {
    const first = context.timeline.deliveriesOf(entry).find((one) => one.response && !one.response.replayed)
    const text = 'The host had handled this delivery id before, and sent the response that it recorded.'
    const next = [...linkTo('The first delivery', first), again('Deliver with a new id', number, 'new')]
    return { tone: 'ok', title: 'Replayed: nothing happened twice', text, next }
  }
  const state = at(body, 'status')
  if (state === 'ignored')
    return { tone: 'idle', title: 'Ignored', text: String(at(body, 'reason')), next: [] }
  if (state === 'unhealthy') {
    const reasons = listOf(at(body, 'checks')).flatMap((check) => at(check, 'message') ?? [])
    const text = `The check itself worked. ${reasons.join(' ')}`
    const next = [again('Check again', number, 'new')]
    return { tone: 'warn', title: 'The provider is unhealthy', text, next }
  }
  const statuses = listOf(at(body, 'result', 'results')).map((result) => String(at(result, 'status')))
  const groups = [...Map.groupBy(statuses, (status) => status)]
  const tally = groups.map(([status, all]) => `${all.length} ${status}`).join(', ')
  const name = entry.subject ?? event
  const look = placesOf(context, entry)
  if (statuses.some((status) => status === 'failed' || status === 'unknown')) {
    const text = `${tally}. The response has a result for each, in the order given.`
    return { tone: 'warn', title: `${name} worked in part`, text, next: [...look, edit(number)] }
  }
  const deployed = html`<a href="/deployments?deployment=${encodeURIComponent(deployment ?? '')}">The deployment</a>`
  const isKnown = deployment !== undefined && context.world.platform.deployments.has(deployment)
  const next = entry.subject !== undefined && look.length > 0 ? look : isKnown ? [deployed] : []
  const title = `${name} worked in ${duration(entry.durationMs)}`
  const retried = attemptsOf(calls).find(({ attempt }) => attempt > 1)
  const [failed, ...others] = calls.filter(hasFailed)
  if (retried) {
    const why = failed?.status ? `answered ${failed.status}` : `failed (${failed?.failure})`
    const text = `The ${retried.call.to} ${why}; the host waited (${retried.wait?.reason}) and tried again.`
    const tone = others.length + 1 < calls.length ? 'warn' : 'bad'
    return { tone, title: `${title}, with ${plural(mostAttempts(calls), 'attempt')}`, text, next }
  }
  if (failed) {
    const text = `${plural(others.length + 1, 'call')} failed, and the event did not need it.`
    return { tone: 'warn', title, text, next }
  }
  const asked = calls.filter(({ to }) => to === 'provider').length
  const text =
    asked > 0 ? `The host made ${plural(asked, 'call')} to the provider.` : 'The host asked no provider.'
  return { tone: 'ok', title, text: tally ? `${tally}. ${text}` : text, next }
}

function judgeFailure(context: PageContext, entry: TimelineEntry, body: unknown): Verdict {
  const { number, code, response } = entry
  const title = String(at(body, 'title') ?? `The host responded with ${response?.status}`)
  const text = String(at(body, 'detail') ?? '')
  if (code === 'outcome_unknown') {
    const next = [...placesOf(context, entry), again('Deliver with a new id', number, 'new')]
    return { tone: 'warn', title, text, next }
  }
  if (at(body, 'retryable') === true) {
    const other = context.timeline.deliveriesOf(entry).find((one) => one.number < number)
    const next = [...linkTo('The other delivery', other), again('Deliver again', number, 'same')]
    return { tone: code === 'delivery_in_progress' ? 'warn' : 'bad', title, text, next }
  }
  return { tone: 'bad', title, text, next: entry.body === undefined ? [] : [edit(number)] }
}

/** Where the effect of an event can be seen. */
function placesOf({ world }: PageContext, { calls, deployment = '' }: TimelineEntry): Html[] {
  const changes = calls.filter(({ method }) => method !== 'GET')
  const origins = new Set(changes.map(({ url }) => new URL(url).origin))
  const people = address('/deployments', { deployment, tab: 'people' })
  return [
    ...(origins.has(world.mail.url ?? '') ? [html`<a href="/mailbox">Look in the mailbox</a>`] : []),
    ...(origins.has(world.identityUrl) && world.platform.deployments.has(deployment)
      ? [html`<a href="${people}">Look at the people</a>`]
      : []),
  ]
}

function linkTo(label: string, entry: TimelineEntry | undefined): Html[] {
  return entry ? [html`<a href="/timeline?event=${entry.number}">${label}, #${entry.number}</a>`] : []
}

function again(label: string, number: number, id: string): Html {
  return actionButton(label, 'again', { number, id }, { look: 'link', target: 'follow' })
}

function edit(number: number): Html {
  return html`<a href="/timeline?edit=${number}">Edit and replay</a>`
}

function bodyOf({ response }: TimelineEntry): unknown {
  return response && parse(response.text)
}
