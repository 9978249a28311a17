/**
 * A session as a file: the events, in order, as they were sent, with what they were answered.
 *
 * @module
 */
import { at, isRecord } from './data.ts'
import type { TimelineEntry } from './timeline.ts'

/** One event of a session. */
export interface SessionEvent {
  route: string
  /** Absent: it had none. */
  deliveryId?: string | undefined
  /** The body: what is JSON as JSON, anything else as its text in `text`. */
  event?: unknown
  text?: string | undefined
  /** What it was answered. */
  answered?: { status: number; replayed: boolean; code?: string | undefined } | undefined
  /** ISO 8601, UTC. */
  at?: string | undefined
}

/** The file. */
export interface Session {
  format: typeof SESSION_FORMAT
  events: readonly SessionEvent[]
}

/** Tells a session from other JSON. */
export const SESSION_FORMAT = 'webhook-session/1'

/**
 * Makes a session of what was seen, in the order given. What was too long to keep is left out.
 *
 * @param clean removes the secrets from parsed JSON, or from a text that is none
 */
export function toSession(entries: readonly TimelineEntry[], clean?: <T>(data: T) => T): Session {
  const events = entries
    .filter(({ body }) => body !== undefined)
    .map((entry): SessionEvent => {
      const { route, deliveryId, body = '', answer } = entry
      return {
        route,
        deliveryId,
        at: new Date(entry.at).toISOString(),
        ...(clean ? toCleanContent(body, clean) : toContent(body)),
        answered: answer && { status: answer.status, replayed: answer.replayed, code: answer.code },
      }
    })
  return { format: SESSION_FORMAT, events }
}

/** As JSON only where that gives back the very same bytes: the answer to a redelivery depends on them. */
function toContent(body: string): { event: unknown } | { text: string } {
  try {
    const event: unknown = JSON.parse(body)
    return JSON.stringify(event) === body ? { event } : { text: body }
  } catch {
    return { text: body }
  }
}

/** Without secrets, the bytes are others anyway. */
function toCleanContent(body: string, clean: <T>(data: T) => T): { event: unknown } | { text: string } {
  const content = toContent(body)
  if ('event' in content) return { event: clean(content.event) }
  try {
    return { event: clean(JSON.parse(body)) }
  } catch {
    return clean({ text: body })
  }
}

/** The body of an event, as it was sent. */
export function bodyOf({ event, text }: SessionEvent): string {
  return text ?? JSON.stringify(event)
}

/**
 * Reads a session.
 *
 * @throws {TypeError} where the text is none, with the reason
 */
export function parseSession(text: string): Session {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new TypeError('it is not JSON')
  }
  const events = at(value, 'events')
  if (at(value, 'format') !== SESSION_FORMAT || !Array.isArray(events)) {
    throw new TypeError(`it is no session: “format” has to be ${SESSION_FORMAT}, and “events” a list`)
  }
  return { format: SESSION_FORMAT, events: events.map(parseEvent) }
}

function parseEvent(value: unknown, index: number): SessionEvent {
  const wrong = (what: string) => new TypeError(`events[${index}] ${what}`)
  if (!isRecord(value)) throw wrong('is not an object')
  const { route, deliveryId, event, text } = value
  if (typeof route !== 'string' || !/^[\w-]+$/.test(route)) throw wrong('has no route, such as mailer')
  if (deliveryId !== undefined && typeof deliveryId !== 'string')
    throw wrong('has a deliveryId that is no text')
  if (text !== undefined && typeof text !== 'string') throw wrong('has a text that is no text')
  if (event === undefined && text === undefined) throw wrong('has neither event nor text')
  const status = at(value, 'answered', 'status')
  const answered =
    typeof status === 'number' ? { status, replayed: at(value, 'answered', 'replayed') === true } : undefined
  return { route, deliveryId, event, text, answered }
}
