/** A session as a file: the events in their order, as they were sent, and how the host responded. */
import { at, isRecord, parse } from './json.ts'
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
 * @throws {TypeError} if the text is not a session, with the reason
 */
export function parseSession(text: string, path: string): SessionEvent[] {
  const invalid = (reason: string) => new TypeError(`${path} can’t be replayed: ${reason}.`)
  const session = parse(text)
  const events = at(session, 'events')
  if (at(session, 'format') !== SESSION_FORMAT || !Array.isArray(events)) {
    throw invalid(`it is no session: “format” must be ${SESSION_FORMAT}, and “events” a list`)
  }
  return events.map((event: unknown, index) => {
    const { route, deliveryId, body, status } = isRecord(event) ? event : {}
    if (typeof route !== 'string' || !/^[\w-]+$/.test(route))
      throw invalid(`events[${index}] has no route, such as mailer`)
    if (typeof body !== 'string') throw invalid(`events[${index}] has no body`)
    return {
      route,
      body,
      deliveryId: typeof deliveryId === 'string' ? deliveryId : undefined,
      status: typeof status === 'number' ? status : undefined,
    }
  })
}
