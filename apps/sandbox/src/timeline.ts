/**
 * What happened, event by event, for as long as there is room for it: the oldest give way.
 *
 * @module
 */

import { at, isRecord } from './data.ts'
import { describeCallback } from './describe.ts'
import type { HeaderList, LogLine, OpenExchange, OutboundCall } from './exchange.ts'
import { shortenIds } from './shorten.ts'
import { truncate } from './terminal.ts'
import { fitsFilter, type TimelineFilter } from './timeline-filter.ts'
import { walks } from './walk/index.ts'

/** A request or an answer, as it was on the wire. */
export interface WireMessage {
  headers: HeaderList
  /** Cut off where it is long. */
  text: string
}

/** One call under an event. */
export interface TimelineCall {
  to: 'platform' | 'provider'
  method: string
  path: string
  url: string
  /** `undefined` where no answer came, or not yet. */
  status: number | undefined
  failure: string | undefined
  startedMs: number
  durationMs: number | undefined
  /** What it was about, in a few words; with secrets, as everything here. */
  detail: string
  request: WireMessage
  answer: WireMessage
}

/** One event with everything that it caused. */
export interface TimelineEntry {
  number: number
  at: number
  source: string | undefined
  route: string
  event: string
  /** The function or the file that it asks for. */
  subject: string | undefined
  deployment: string | undefined
  deliveryId: string | undefined
  signed: boolean
  headers: HeaderList
  /** The body as it was sent, to deliver it again; `undefined` where it was too long to keep. */
  body: string | undefined
  answer: (WireMessage & { status: number; replayed: boolean; code: string | undefined }) | undefined
  durationMs: number | undefined
  calls: readonly TimelineCall[]
  log: readonly LogLine[]
}

/** Options of {@link createTimeline}. */
export interface TimelineOptions {
  /** @default 10_000 */
  maxEntries?: number
  /**
   * How many characters of bodies are kept in all.
   * @default 32 Mi
   */
  maxCharacters?: number
}

/** The events that were seen. */
export interface Timeline {
  record(exchange: OpenExchange): TimelineEntry
  get(number: number): TimelineEntry | undefined
  /** Newest first. */
  list(filter?: TimelineFilter): TimelineEntry[]
  /** The newest that fits. */
  newest(fits: (entry: TimelineEntry) => boolean): TimelineEntry | undefined
  readonly size: number
}

const TEXT_KEPT = 64 * 1024
const BODY_KEPT = 1024 * 1024
const LONGEST_DETAIL = 200

/** Makes an empty timeline. */
export function createTimeline({
  maxEntries = 10_000,
  maxCharacters = 32 * 1024 * 1024,
}: TimelineOptions = {}): Timeline {
  const entries = new Map<number, { entry: TimelineEntry; weight: number }>()
  // Calls do not change any more once they are answered.
  const finished = new WeakMap<OutboundCall, TimelineCall>()
  let weight = 0
  let newestNumber = 0

  function callOf(call: OutboundCall, route: string): TimelineCall {
    const known = finished.get(call)
    if (known) return known
    const seen = toCall(call, route)
    if (call.durationMs !== undefined) finished.set(call, seen)
    return seen
  }

  function dropOldest(): void {
    for (const [number, oldest] of entries) {
      if (entries.size <= maxEntries && weight <= maxCharacters) return
      if (entries.size === 1) return
      entries.delete(number)
      weight -= oldest.weight
    }
  }

  return {
    record(exchange) {
      const calls = exchange.calls.map((call) => callOf(call, exchange.route))
      const entry = toEntry(exchange, calls)
      const known = entries.get(entry.number)
      // What has been dropped does not come back because a late answer arrives.
      if (!known && entry.number <= newestNumber) return entry
      newestNumber = Math.max(newestNumber, entry.number)
      const added = { entry, weight: weigh(entry) }
      weight += added.weight - (known?.weight ?? 0)
      entries.set(entry.number, added)
      dropOldest()
      return entry
    },
    get: (number) => entries.get(number)?.entry,
    list(filter) {
      const all = [...entries.values()].map(({ entry }) => entry).reverse()
      return filter ? all.filter((entry) => fitsFilter(entry, filter)) : all
    },
    newest(wanted) {
      return [...entries.values()].findLast(({ entry }) => wanted(entry))?.entry
    },
    get size() {
      return entries.size
    },
  }
}

function toEntry(exchange: OpenExchange, calls: readonly TimelineCall[]): TimelineEntry {
  const { number, source, route, deliveryId, signed, headers, text, event, answer, durationMs, log } =
    exchange
  const name = at(event, 'name')
  const subject = at(event, 'functionCall', 'name') ?? at(event, 'download', 'file')
  const deployment = at(event, 'deployment', 'id')
  const code = at(answer?.body, 'code')
  return {
    number,
    at: exchange.at,
    source,
    route,
    event: typeof name === 'string' ? truncate(name, 60) : 'not an event',
    subject: typeof subject === 'string' ? truncate(subject, 60) : undefined,
    deployment: typeof deployment === 'string' ? deployment : undefined,
    deliveryId: deliveryId ?? (isRecord(event) && typeof event.id === 'string' ? event.id : undefined),
    signed,
    headers,
    body: text.length > BODY_KEPT ? undefined : text,
    answer: answer && {
      status: answer.status,
      replayed: answer.replayed,
      code: answer.status >= 400 && typeof code === 'string' ? code : undefined,
      headers: answer.headers,
      text: cut(answer.text),
    },
    durationMs,
    calls,
    log: [...log],
  }
}

function toCall(call: OutboundCall, route: string): TimelineCall {
  const describe = walks.find((walk) => walk.route === route)?.describeCall
  const detail = call.to === 'platform' ? describeCallback(call) : (describe?.(call) ?? '')
  const { to, method, path, url, status, failure, startedMs, durationMs } = call
  return {
    to,
    method,
    path,
    url,
    status,
    failure,
    startedMs,
    durationMs,
    detail: truncate(shortenIds(detail), LONGEST_DETAIL),
    request: { headers: call.requestHeaders, text: cut(call.requestText) },
    answer: { headers: call.answerHeaders, text: cut(call.answerText) },
  }
}

function cut(text: string): string {
  return text.length <= TEXT_KEPT ? text : `${text.slice(0, TEXT_KEPT)}…`
}

function weigh({ body = '', answer, calls }: TimelineEntry): number {
  return calls.reduce(
    (sum, call) => sum + call.request.text.length + call.answer.text.length,
    body.length + (answer?.text.length ?? 0),
  )
}
