/** The search of the timeline: it finds everything that the page shows of an event. */
import { parse } from '../world/json.ts'
import { plural } from '../world/text.ts'
import type { TimelineEntry } from '../world/timeline.ts'
import { attemptsOf, mostAttempts } from './attempts.ts'
import type { PageContext } from './context.ts'
import { titleOf } from './faults.ts'
import { duration, type Query, timeOfDay } from './html.ts'
import { fieldsOf, tagsOf } from './timeline-rows.ts'
import { judge } from './verdict.ts'

/** The filters beside the search, by their parameter: the title, and the events that stay. */
export const chips: Readonly<Record<string, [title: string, fits: (entry: TimelineEntry) => boolean]>> = {
  failed: ['Failed', (entry) => judge(entry).tone === 'bad'],
  visits: ['Hide the walk', ({ source }) => source !== 'walk'],
}

/** The events that the filter of an address selects, newest first. */
export function findEvents(context: PageContext, query: Query): TimelineEntry[] {
  const text = (query.text ?? '').slice(0, 200).toLowerCase().replaceAll(/:\s+/g, ':')
  // A word, or words in quotes.
  const terms = (text.match(/(?:"[^"]*"|\S)+/g) ?? []).map((term) => term.replaceAll('"', ''))
  const chosen = Object.entries(chips).flatMap(([name, [, fits]]) => (query[name] ? [fits] : []))
  return context.timeline.list().filter((entry) => {
    if (!chosen.every((fits) => fits(entry))) return false
    return terms.every((term) =>
      /^#\d+$/.test(term) ? term === `#${entry.number}` : textOf(entry).includes(term),
    )
  })
}

const texts = new WeakMap<TimelineEntry, string>()

/** Everything that the page shows of an event, in lower case; each fact and field as `name:value`. */
export function textOf(entry: TimelineEntry): string {
  const known = texts.get(entry)
  if (known !== undefined) return known
  const { number, at, route, deliveryId, deployment, code, subject, event, calls, response } = entry
  const { title, text } = judge(entry)
  const facts = { number, id: deliveryId, route, deployment, code, function: subject, event }
  const shown = [`POST /${route}/webhook`, timeOfDay(at), duration(entry.durationMs), entry.summary]
  const told = [title, text, plural(mostAttempts(calls), 'attempt'), ...tagsOf(entry)]
  const ofCalls = attemptsOf(calls).map(({ call, wait }) => {
    const { to, method, path, durationMs, status, failure, fault, request, response } = call
    const injected = fault && `injected: ${titleOf(fault)}`
    const line = [to, method, path, duration(durationMs), failure, wait?.text, injected]
    return [line, wordsOf({ status }), messageOf(request), messageOf(response)]
  })
  const own = { headers: entry.headers, text: entry.body ?? '' }
  const answer = response && [wordsOf({ status: response.status }), messageOf(response)]
  const log = entry.log.map((line) => [line.level, line.message, ...fieldsOf(line)])
  const signed = entry.signed ? 'signed' : ''
  const all = [shown, told, signed, wordsOf(facts), messageOf(own), answer, ofCalls, log]
  const whole = all.flat(9).join('\n').toLowerCase()
  texts.set(entry, whole)
  return whole
}

function messageOf({ headers, text }: Pick<TimelineEntry, 'headers'> & { text: string }): string[] {
  return [...headers.map(([name, value]) => `${name}:${value}`), ...wordsOf(parse(text))]
}

/** Each value with the name of its field, however deep it is. */
function wordsOf(value: unknown, name = ''): string[] {
  if (value === undefined) return []
  if (Array.isArray(value)) return value.flatMap((item) => wordsOf(item, name))
  if (typeof value !== 'object' || value === null) return [`${name}:${value}`]
  return Object.entries(value).flatMap(([key, inner]) => wordsOf(inner, key))
}
