/** Says in a sentence how an event ended, and names the next step. */
import { html } from 'hono/html'
import { at, listOf, parse } from '../world/json.ts'
import { plural } from '../world/text.ts'
import { hasFailed, type TimelineEntry } from '../world/timeline.ts'
import { attemptsOf } from './attempts.ts'
import type { PageContext } from './context.ts'
import { actionButton, address, duration, type Html, type Tone } from './html.ts'

interface Verdict {
  tone: Tone
  title: string
  text?: string
}

/** The verdict on an event, with its next steps. */
export function verdict(context: PageContext, entry: TimelineEntry): Html {
  const { tone, title, text = '' } = judge(entry)
  const shown = context.mask({ title, text })
  const next = nextSteps(context, entry)
  return html`<section class="verdict ${tone}" aria-label="What happened">
    <p><strong>${shown.title}.</strong> ${shown.text}</p>
    ${next.length > 0 && html`<p class="row next"><span aria-hidden="true">→</span>${next}</p>`}</section>`
}

const verdicts = new WeakMap<TimelineEntry, Verdict>()

/** The verdict in words. */
export function judge(entry: TimelineEntry): Verdict {
  const known = verdicts.get(entry) ?? judgeAnew(entry)
  verdicts.set(entry, known)
  return known
}

function judgeAnew(entry: TimelineEntry): Verdict {
  const { response, calls, event, subject, code } = entry
  if (!response) return { tone: 'busy', title: 'The host is working on it' }
  const body = parse(response.text)
  if (response.status >= 400) {
    const title = String(at(body, 'title') ?? `The host responded with ${response.status}`)
    const isOpen = code === 'outcome_unknown' || code === 'delivery_in_progress'
    return { tone: isOpen ? 'warn' : 'bad', title, text: String(at(body, 'detail') ?? '') }
  }
  if (response.replayed) {
    const text = 'The host had handled this delivery id before, and sent the response that it recorded.'
    return { tone: 'ok', title: 'Replayed: nothing happened twice', text }
  }
  const state = at(body, 'status')
  if (state === 'ignored') return { tone: 'idle', title: 'Ignored', text: String(at(body, 'reason')) }
  if (state === 'unhealthy') {
    const reasons = listOf(at(body, 'checks')).flatMap((check) => at(check, 'message') ?? [])
    const text = `The check itself worked. ${reasons.join(' ')}`
    return { tone: 'warn', title: 'The provider is unhealthy', text }
  }
  const name = subject ?? event
  const statuses = listOf(at(body, 'result', 'results')).map((result) => String(at(result, 'status')))
  const tally = [...Map.groupBy(statuses, (one) => one)]
    .map(([one, all]) => `${all.length} ${one}`)
    .join(', ')
  if (/failed|unknown/.test(tally)) {
    const text = `${tally}. The response has a result for each, in the order given.`
    return { tone: 'warn', title: `${name} worked in part`, text }
  }
  const title = `${name} worked in ${duration(entry.durationMs)}`
  const failed = calls.filter(hasFailed)
  const last = attemptsOf(calls).findLast(({ attempt }) => attempt > 1)
  if (last) {
    const why = failed[0]?.status ? `answered ${failed[0].status}` : `failed (${failed[0]?.failure})`
    const text = `The ${last.call.to} ${why}; the host waited (${last.wait?.reason}) and tried again.`
    return { tone: 'warn', title: `${title}, with ${plural(last.attempt, 'attempt')}`, text }
  }
  const text = `${plural(failed.length, 'call')} failed, and the event did not need it.`
  if (failed.length > 0) return { tone: 'warn', title, text }
  const asked = calls.filter(({ to }) => to === 'provider').length
  const did =
    asked > 0 ? `The host made ${plural(asked, 'call')} to the provider.` : 'The host asked no provider.'
  return { tone: 'ok', title, text: tally ? `${tally}. ${did}` : did }
}

/** Links to what an event changed, and to what explains it. */
function nextSteps(context: PageContext, entry: TimelineEntry): Html[] {
  const { number, code, response, deployment = '' } = entry
  const places = response ? placesOf(context, entry) : []
  if (code === 'outcome_unknown') {
    const options = { look: 'link', target: 'follow' }
    return [...places, actionButton('Deliver with a new id', 'again', { number, id: 'new' }, options)]
  }
  const other = context.timeline.deliveriesOf(entry).findLast((one) => one !== entry)
  if (other && (response?.replayed || code === 'delivery_in_progress'))
    return [html`<a href="/timeline?event=${other.number}">The other delivery, #${other.number}</a>`]
  if (places.length > 0 || !context.world.platform.deployments.has(deployment)) return places
  return [html`<a href="${address('/deployments', { deployment })}">The deployment</a>`]
}

/** Where the effect of a function can be seen. */
function placesOf({ world }: PageContext, { calls, deployment = '', subject }: TimelineEntry): Html[] {
  const changes = subject === undefined ? [] : calls.filter(({ method }) => method !== 'GET')
  const origins = new Set(changes.map(({ url }) => new URL(url).origin))
  const people = address('/deployments', { deployment, tab: 'people' })
  return [
    ...(origins.has(world.mailUrl) ? [html`<a href="/mailbox">Look in the mailbox</a>`] : []),
    ...(origins.has(world.identityUrl) && world.platform.deployments.has(deployment)
      ? [html`<a href="${people}">Look at the people</a>`]
      : []),
  ]
}
