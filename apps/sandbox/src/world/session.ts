/**
 * A session as a file: the events in their order, as they were sent, and how the host responded.
 *
 * @module
 */
import { at, isRecord } from './json.ts'
import type { TimelineEntry } from './timeline.ts'

/** One event of a session. */
export interface SessionEvent {
  route: string
  deliveryId?: string | undefined
  /** The body if it is JSON; otherwise `text` has it. */
  event?: unknown
  text?: string | undefined
  /** How the host responded. */
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
 * Makes a session of events, in the given order. Events whose body was too long to keep are left out.
 *
 * @param clean removes the secrets from parsed JSON or from a text
 */
export function toSession(entries: readonly TimelineEntry[], clean?: <T>(data: T) => T): Session {
  const events = entries
    .filter(({ body }) => body !== undefined)
    .map(({ route, deliveryId, body = '', at, response, code }): SessionEvent => {
      const { status, replayed } = response ?? {}
      return {
        route,
        deliveryId,
        at: new Date(at).toISOString(),
        ...toContent(body, clean),
        answered: status === undefined ? undefined : { status, replayed: replayed === true, code },
      }
    })
  return { format: SESSION_FORMAT, events }
}

function toContent(body: string, clean?: <T>(data: T) => T): { event: unknown } | { text: string } {
  try {
    const event: unknown = JSON.parse(body)
    // Removing secrets changes the bytes anyway.
    if (clean) return { event: clean(event) }
    // A redelivery must have the very same bytes.
    return JSON.stringify(event) === body ? { event } : { text: body }
  } catch {
    return clean ? clean({ text: body }) : { text: body }
  }
}

/** The body of an event, as it was sent. */
export function bodyOf({ event, text }: SessionEvent): string {
  return text ?? JSON.stringify(event)
}

/**
 * Reads a session.
 *
 * @throws {TypeError} if the text is not a session, with the reason
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
    throw new TypeError(`it is not a session: “format” must be ${SESSION_FORMAT}, and “events” a list`)
  }
  return { format: SESSION_FORMAT, events: events.map(parseEvent) }
}

function parseEvent(value: unknown, index: number): SessionEvent {
  const invalid = (reason: string) => new TypeError(`events[${index}] ${reason}`)
  if (!isRecord(value)) throw invalid('is not an object')
  const { route, deliveryId, event, text } = value
  if (typeof route !== 'string' || !/^[\w-]+$/.test(route)) throw invalid('has no route, such as mailer')
  if (deliveryId !== undefined && typeof deliveryId !== 'string')
    throw invalid('has a deliveryId that is not a string')
  if (text !== undefined && typeof text !== 'string') throw invalid('has a text that is not a string')
  if (event === undefined && text === undefined) throw invalid('has neither event nor text')
  const status = at(value, 'answered', 'status')
  const answered =
    typeof status === 'number' ? { status, replayed: at(value, 'answered', 'replayed') === true } : undefined
  return { route, deliveryId, event, text, answered }
}
