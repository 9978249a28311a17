/** The search of the timeline: it finds everything that the page shows of an event. */
import { isRecord, parse } from '../world/json.ts'
import { plural } from '../world/text.ts'
import { hasFailed, hasSucceeded, type TimelineEntry } from '../world/timeline.ts'
import type { PageContext } from './context.ts'
import { titleOf } from './faults.ts'
import { duration, type Query, timeOfDay } from './html.ts'
import { fieldsOf, tagsOf } from './timeline-rows.ts'
import { judge } from './verdict.ts'
import { attemptsOf, mostAttempts } from './waterfall.ts'

/** Selects events. */
export interface TimelineFilter {
  /** Words and `field:value` pairs; each one must fit. */
  text: string
  route: string
  outcome: string
  /** Whether to include the events of the walk. */
  walk: boolean
}

type Test = (entry: TimelineEntry) => boolean

/** The outcomes that a filter knows, by name. */
export const outcomes: Readonly<Record<string, { title: string; test: Test }>> = {
  ok: { title: 'Succeeded', test: hasSucceeded },
  failed: { title: 'Failed', test: (entry) => entry.response !== undefined && !hasSucceeded(entry) },
  trouble: { title: 'Had a failing call', test: ({ calls }) => calls.some(hasFailed) },
  replayed: { title: 'Was replayed', test: ({ response }) => response?.replayed === true },
}

/** Reads the filter of an address. */
export function readFilter(query: Query): TimelineFilter {
  const { text = '', route = '', outcome = '', walk = '' } = query
  return { text: text.trim().slice(0, 200), route, outcome, walk: walk !== 'hide' }
}

/** The events that a filter selects, newest first. */
export function findEvents(
  context: PageContext,
  { text, route, outcome, walk }: TimelineFilter,
): TimelineEntry[] {
  const terms = [...text.toLowerCase().matchAll(TERM)].flatMap(([term]) => toTest(context, term) ?? [])
  return context.timeline.list().filter((entry) => {
    if (!walk && entry.source === 'walk') return false
    if (route !== '' && entry.route !== route) return false
    if (outcomes[outcome]?.test(entry) === false) return false
    return terms.every((fits) => fits(entry))
  })
}

/** A word, a quoted text, or either one with the name of a field before it. */
const TERM = /(?:[a-z][\w-]*:\s*)?"[^"]*"|[a-z][\w-]*:(?:\s+(?![a-z][\w-]*:)\S+)?(?=\s|$)|\S+/g

/** The facts that `name:value` looks into; any other name is a field of the event, or a header. */
const facts: Readonly<Record<string, (entry: TimelineEntry) => readonly unknown[]>> = {
  number: ({ number }) => [number],
  id: ({ deliveryId }) => [deliveryId],
  status: ({ response, calls }) => [response?.status, ...calls.map(({ status }) => status)],
  route: ({ route }) => [route],
  deployment: ({ deployment }) => [deployment],
  code: ({ code }) => [code],
  function: ({ subject }) => [subject],
  event: ({ event }) => [event],
}

/** @returns `undefined` for the name of a field that has no value yet */
function toTest(context: PageContext, term: string): Test | undefined {
  const [, number] = /^#(\d+)$/.exec(term) ?? []
  if (number !== undefined) return (entry) => String(entry.number) === number
  const [, name, given = ''] = /^([a-z][\w-]*):\s*(.*)$/.exec(term) ?? []
  const value = given.replaceAll('"', '')
  const words = term.replaceAll('"', '')
  if (name === undefined) return (entry) => textOf(context, entry).includes(words)
  if (value === '') return undefined
  const read = Object.hasOwn(facts, name) ? facts[name] : undefined
  if (read) return (entry) => read(entry).some((fact) => String(fact).toLowerCase().startsWith(value))
  return (entry) => {
    const text = textOf(context, entry)
    if (text.includes(words) || text.includes(`${name}: ${value}`)) return true
    if (!text.includes(value)) return false
    return fieldsNamed(parse(entry.body ?? ''), name).some((found) => found.includes(value))
  }
}

/** The texts of every field of this name, at any depth. */
function fieldsNamed(value: unknown, name: string): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => fieldsNamed(item, name))
  if (!isRecord(value)) return []
  return Object.entries(value).flatMap(([key, inner]) =>
    key.toLowerCase() === name ? [JSON.stringify(inner).toLowerCase()] : fieldsNamed(inner, name),
  )
}

const texts = new WeakMap<TimelineEntry, string>()

/** Everything that the page shows of an event, in lower case. */
export function textOf(context: PageContext, entry: TimelineEntry): string {
  const known = texts.get(entry)
  if (known !== undefined) return known
  // The page shows the rest, and its numbers only as durations and statuses.
  const { source: _source, ticket: _ticket, log, ...shownFacts } = entry
  const { number, route, calls, signed, response } = entry
  const { title, text: said } = judge(context, entry)
  const tries = plural(mostAttempts(calls), 'attempt')
  const shown = [`#${number}`, `POST /${route}/webhook`, timeOfDay(entry.at), duration(entry.durationMs)]
  const ofCalls = attemptsOf(calls).map(({ call, wait }) => {
    const { durationMs, fault } = call
    return [duration(durationMs), wait?.text, fault && `injected: ${titleOf(fault)}`]
  })
  const lines = log.map((line) => [line.level, line.message, ...fieldsOf(line)].join(' '))
  const statuses = [response, ...calls].map((one) => String(one?.status ?? ''))
  const rest = [tries, title, said, ...tagsOf(entry), signed ? 'signed' : '', ...lines, ...statuses]
  const text = [...shown, ...rest, ...wordsOf([ofCalls, shownFacts])].join(' ').toLowerCase()
  texts.set(entry, text)
  return text
}

/** The texts in any data; a pair of them is a header. */
function wordsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  const values: unknown[] = Object.values(value)
  const [name, content] = values
  const isHeader =
    Array.isArray(value) && values.length === 2 && values.every((one) => typeof one === 'string')
  return isHeader ? [`${name}: ${content}`] : values.flatMap(wordsOf)
}
