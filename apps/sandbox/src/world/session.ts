/** A session as a file: the events in their order, as they were sent, and how the host responded. */
import { at, listOf, parse } from './json.ts'
import type { TimelineEntry } from './timeline.ts'

/** One event of a session. */
export interface SessionEvent {
  route: string
  deliveryId?: string | undefined
  body: string
  /** The status of the host’s response. */
  status?: number | undefined
}

/** Tells a session from other JSON. */
export const SESSION_FORMAT = 'webhook-session/2'

/**
 * Makes a session of events, in the given order. Events whose body was too long to keep are left out.
 * @param clean removes the secrets of a body
 */
export function toSession(entries: readonly TimelineEntry[], clean = (body: string) => body) {
  const events = entries.flatMap(({ route, deliveryId, body, response }): SessionEvent[] =>
    body === undefined ? [] : [{ route, deliveryId, body: clean(body), status: response?.status }],
  )
  return { format: SESSION_FORMAT, events }
}

/**
 * Reads a session.
 * @param path names the file in errors
 * @throws {TypeError} if the text is not a session
 */
export function parseSession(text: string, path: string): SessionEvent[] {
  const session = parse(text)
  const events = listOf(at(session, 'events'))
  if (at(session, 'format') === SESSION_FORMAT && events.every(isEvent)) return [...events]
  throw new TypeError(`${path} can’t be replayed: it is no session of the format ${SESSION_FORMAT}.`)
}

function isEvent(value: unknown): value is SessionEvent {
  const isRoute = /^[\w-]+$/.test(String(at(value, 'route')))
  return isRoute && typeof at(value, 'body') === 'string'
}
