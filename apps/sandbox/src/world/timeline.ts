/** The observed events, as many as the memory limit allows: the oldest are dropped first. */
import { summarize } from './describe.ts'
import type { HeaderList, Message, OpenExchange, OutboundCall } from './exchange.ts'
import { at } from './json.ts'
import { truncate } from './text.ts'

/** One event with its calls. Contains secrets. */
export interface TimelineEntry extends Omit<OpenExchange, 'request'> {
  event: string
  /** The called function, or the requested file. */
  subject: string | undefined
  deployment: string | undefined
  /** The event in a few words, such as the recipient and the subject. */
  summary: string
  /** The code of a problem. */
  code: string | undefined
  headers: HeaderList
  /** The whole body, to deliver it again; `undefined` if it was too long to keep. */
  body: string | undefined
}

const CALL_KEPT = 64 * 1024
const BODY_KEPT = 1024 * 1024
const LONGEST_NAME = 60

/** Makes an empty timeline. `maxCharacters`: limits all bodies together. */
export function createTimeline({ maxEntries = 10_000, maxCharacters = 32 * 1024 * 1024 } = {}) {
  const entries = new Map<number, { entry: TimelineEntry; weight: number }>()
  let weight = 0
  let newestNumber = 0
  /** The events up to this number are hidden. */
  let cleared = 0

  /** Newest first. */
  const list = () =>
    [...entries.values()].flatMap(({ entry }) => (entry.number > cleared ? entry : [])).reverse()

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
    get: (number: number) => (number > cleared ? entries.get(number)?.entry : undefined),
    list,
    /** The deliveries with the id of an event, newest first. */
    deliveriesOf: (entry: TimelineEntry) => list().filter((one) => keyOf(one) === keyOf(entry)),
    /** Hides every event. @returns brings them back */
    clear(): () => void {
      const before = cleared
      cleared = newestNumber
      return () => {
        cleared = before
      }
    },
  }
}

/** Deliveries with one id have one key. */
export function keyOf({ route, deliveryId, number }: TimelineEntry): string {
  return deliveryId === undefined ? String(number) : `${route} ${deliveryId}`
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
    summary: summarize(body, response?.body),
    deliveryId,
    code: response && response.status >= 400 ? textAt(response.body, 'code') : undefined,
    headers,
    body: text.length > BODY_KEPT ? undefined : text,
    response: response && { ...response, ...cut(response, BODY_KEPT) },
    calls: exchange.calls.map((call) => ({
      ...call,
      request: cut(call.request, CALL_KEPT),
      response: cut(call.response, CALL_KEPT),
    })),
    log: [...exchange.log],
  }
}

function textAt(value: unknown, ...path: string[]): string | undefined {
  const found = at(value, ...path)
  return typeof found === 'string' ? found : undefined
}

function cut({ headers, text }: Message, length: number): Message {
  return { headers, text: text.length <= length ? text : `${text.slice(0, length)}…`, body: undefined }
}

function weigh({ body = '', response, calls }: TimelineEntry): number {
  const ofCalls = calls.map(({ request, response }) => request.text.length + response.text.length)
  return [body.length, response?.text.length ?? 0, ...ofCalls].reduce((sum, length) => sum + length)
}

/** Whether the host accepted an event. */
export function hasSucceeded({ response }: TimelineEntry): boolean {
  return response !== undefined && response.status < 400
}

/** Whether a call has ended without success. */
export function hasFailed({ status, failure, durationMs }: OutboundCall): boolean {
  return durationMs !== undefined && (failure !== undefined || status === undefined || status >= 400)
}
