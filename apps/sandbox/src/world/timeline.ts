/** The observed events, as many as the memory limit allows: the oldest are dropped first. */
import { summarize } from './describe.ts'
import type { HeaderList, Message, OpenExchange, OutboundCall } from './exchange.ts'
import { at } from './json.ts'
import { truncate } from './text.ts'

/** A call; its bodies are cut. */
export type TimelineCall = OutboundCall

/** One event with its calls. Contains secrets. */
export interface TimelineEntry extends Omit<OpenExchange, 'request' | 'calls'> {
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
  calls: readonly TimelineCall[]
}

const TEXT_KEPT = 64 * 1024
const BODY_KEPT = 1024 * 1024
const LONGEST_NAME = 60

/** Makes an empty timeline. `maxCharacters`: limits all bodies together. */
export function createTimeline({ maxEntries = 10_000, maxCharacters = 32 * 1024 * 1024 } = {}) {
  const entries = new Map<number, { entry: TimelineEntry; weight: number }>()
  let weight = 0
  let newestNumber = 0
  /** The events up to this number are hidden. */
  let cleared = 0

  const visible = () => [...entries.values()].flatMap(({ entry }) => (entry.number > cleared ? entry : []))

  function dropOldest(): void {
    for (const [number, oldest] of entries) {
      if (entries.size === 1 || (entries.size <= maxEntries && weight <= maxCharacters)) return
      entries.delete(number)
      weight -= oldest.weight
    }
  }

  /** Keeps a group of deliveries with one id together, newest first. */
  const deliveriesOf = (entry: TimelineEntry) =>
    entry.deliveryId === undefined
      ? [entry]
      : visible()
          .filter(({ route, deliveryId }) => route === entry.route && deliveryId === entry.deliveryId)
          .reverse()

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
    size: () => visible().length,
    /** Newest first. */
    list: () => visible().reverse(),
    /** The deliveries with the id of an event, newest first. */
    deliveriesOf,
    /** The newest event that fulfils a condition. */
    newest: (condition: (entry: TimelineEntry) => boolean) => visible().findLast(condition),
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
    response: response && { ...response, ...cut(response) },
    calls: exchange.calls.map((call) => ({
      ...call,
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

export function hasFailed({ status, failure, durationMs }: TimelineCall): boolean {
  return durationMs !== undefined && (failure !== undefined || status === undefined || status >= 400)
}
