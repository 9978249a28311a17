/** The observed events, as many as the memory limit allows: the oldest are dropped first. */
import { describeCall } from './describe.ts'
import type { HeaderList, Message, OpenExchange, OutboundCall } from './exchange.ts'
import { at } from './json.ts'
import { truncate } from './text.ts'

/** A call with a description; its bodies are cut. */
export type TimelineCall = OutboundCall & { detail: string }

/** One event with its calls. Contains secrets. */
export interface TimelineEntry extends Omit<OpenExchange, 'request' | 'calls'> {
  event: string
  /** The called function, or the requested file. */
  subject: string | undefined
  deployment: string | undefined
  /** The code of a problem. */
  code: string | undefined
  headers: HeaderList
  /** The whole body, to deliver it again; `undefined` if it was too long to keep. */
  body: string | undefined
  calls: readonly TimelineCall[]
}

/** Selects events. */
export interface TimelineFilter {
  /** Every word must occur in the event or its calls. */
  text: string
  route: string
  outcome: string
  /** Includes the events of the walk. */
  walk: boolean
}

/** The outcomes that a filter knows, by name. */
export const outcomes: Readonly<Record<string, { title: string; test(entry: TimelineEntry): boolean }>> = {
  ok: { title: 'succeeded', test: hasSucceeded },
  failed: { title: 'failed', test: ({ response }) => response !== undefined && response.status >= 400 },
  trouble: { title: 'had a failing call', test: ({ calls }) => calls.some(hasFailed) },
  replayed: { title: 'was replayed', test: ({ response }) => response?.replayed === true },
}

const TEXT_KEPT = 64 * 1024
const BODY_KEPT = 1024 * 1024
const LONGEST_DETAIL = 200
const LONGEST_NAME = 60

/**
 * Makes an empty timeline.
 *
 * @param maxCharacters limits all bodies together
 */
export function createTimeline({ maxEntries = 10_000, maxCharacters = 32 * 1024 * 1024 } = {}) {
  const entries = new Map<number, { entry: TimelineEntry; weight: number }>()
  let weight = 0
  let newestNumber = 0

  function dropOldest(): void {
    for (const [number, oldest] of entries) {
      if (entries.size === 1 || (entries.size <= maxEntries && weight <= maxCharacters)) return
      entries.delete(number)
      weight -= oldest.weight
    }
  }

  return {
    record(exchange: OpenExchange): TimelineEntry {
      const entry = toEntry(exchange)
      const known = entries.get(entry.number)
      // A late response does not bring back a dropped event.
      if (!known && entry.number <= newestNumber) return entry
      newestNumber = Math.max(newestNumber, entry.number)
      const added = { entry, weight: weigh(entry) }
      weight += added.weight - (known?.weight ?? 0)
      entries.set(entry.number, added)
      dropOldest()
      return entry
    },
    get: (number: number) => entries.get(number)?.entry,
    /** Newest first. */
    list(filter?: TimelineFilter): TimelineEntry[] {
      const all = [...entries.values()].map(({ entry }) => entry).reverse()
      return filter ? all.filter((entry) => matchesFilter(entry, filter)) : all
    },
    /** The newest event that fulfils a condition. */
    newest: (condition: (entry: TimelineEntry) => boolean) =>
      [...entries.values()].findLast(({ entry }) => condition(entry))?.entry,
  }
}

function toEntry({ request, ...exchange }: OpenExchange): TimelineEntry {
  const { body, text, headers } = request
  const { response, deliveryId = textAt(body, 'id') } = exchange
  const subject = textAt(body, 'functionCall', 'name') ?? textAt(body, 'download', 'file')
  return {
    ...exchange,
    event: truncate(textAt(body, 'name') ?? 'not an event', LONGEST_NAME),
    subject: subject && truncate(subject, LONGEST_NAME),
    deployment: textAt(body, 'deployment', 'id'),
    deliveryId,
    code: response && response.status >= 400 ? textAt(response.body, 'code') : undefined,
    headers,
    body: text.length > BODY_KEPT ? undefined : text,
    response: response && { ...response, ...cut(response) },
    calls: exchange.calls.map((call) => ({
      ...call,
      detail: truncate(describeCall(call), LONGEST_DETAIL),
      request: cut(call.request),
      response: cut(call.response),
    })),
    log: [...exchange.log],
  }
}

function textAt(value: unknown, ...path: string[]): string | undefined {
  const found = at(value, ...path)
  return typeof found === 'string' ? found : undefined
}

function cut({ headers, text }: Message): Message {
  return { headers, text: text.length <= TEXT_KEPT ? text : `${text.slice(0, TEXT_KEPT)}…`, body: undefined }
}

function weigh({ body = '', response, calls }: TimelineEntry): number {
  return calls.reduce(
    (sum, call) => sum + call.request.text.length + call.response.text.length,
    body.length + (response?.text.length ?? 0),
  )
}

/** Whether the host accepted an event. */
export function hasSucceeded({ response }: TimelineEntry): boolean {
  return response !== undefined && response.status < 400
}

export function hasFailed({ status, durationMs }: TimelineCall): boolean {
  return durationMs !== undefined && (status === undefined || status >= 400)
}

function matchesFilter(entry: TimelineEntry, { text, route, outcome, walk }: TimelineFilter): boolean {
  if (!walk && entry.source === 'walk') return false
  if (route !== '' && entry.route !== route) return false
  if (outcomes[outcome]?.test(entry) === false) return false
  if (text === '') return true
  const { number, event, subject, deployment, deliveryId, response, code } = entry
  const facts = [`#${number}`, entry.route, event, subject, deployment, deliveryId, response?.status, code]
  const calls = entry.calls.map((call) => [call.to, call.method, call.path, call.status ?? call.failure])
  const haystack = [...facts, ...calls.flat()].join(' ').toLowerCase()
  const words = text.toLowerCase().split(/\s+/)
  return words.every((word) => haystack.includes(word))
}
