/** A session as a file: the events in their order, as they were sent, and how the host responded. */
import { at, isRecord, parse } from './json.ts'
import type { TimelineEntry } from './timeline.ts'

export interface SessionEvent {
  route: string
  deliveryId?: string | undefined
  /** The body if it is JSON; otherwise `text` has it. */
  event?: unknown
  text?: string | undefined
  /** How the host responded. */
  answered?: { status: number; replayed?: boolean; code?: string | undefined } | undefined
  /** ISO 8601, UTC. */
  at?: string | undefined
}

/** Tells a session from other JSON. */
export const SESSION_FORMAT = 'webhook-session/1'

/**
 * Makes a session of events, in the given order. Events whose body was too long to keep are left out.
 * @param clean removes the secrets from parsed JSON or from a text
 */
export function toSession(entries: readonly TimelineEntry[], clean?: <T>(data: T) => T) {
  const events = entries
    .filter(({ body }) => body !== undefined)
    .map(({ route, deliveryId, body = '', at, response, code }): SessionEvent => {
      const answered = response && { status: response.status, replayed: response.replayed, code }
      return { route, deliveryId, at: new Date(at).toISOString(), ...toContent(body, clean), answered }
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
 * @param path names the file in errors
 * @throws {TypeError} if the text is not a session, with the reason
 */
export function parseSession(text: string, path: string): SessionEvent[] {
  const invalid = (reason: string) => new TypeError(`${path} can’t be replayed: ${reason}.`)
  const value = parse(text)
  if (!isRecord(value)) throw invalid('it is not JSON')
  if (value.format !== SESSION_FORMAT || !Array.isArray(value.events)) {
    throw invalid(`it is not a session: “format” must be ${SESSION_FORMAT}, and “events” a list`)
  }
  return value.events.map((given: unknown, index): SessionEvent => {
    const { route, deliveryId, event, text: body, answered } = isRecord(given) ? given : {}
    if (!isText(route) || !/^[\w-]+$/.test(route)) {
      throw invalid(`events[${index}] has no route, such as mailer`)
    }
    if (event === undefined && !isText(body)) throw invalid(`events[${index}] has neither event nor text`)
    const status = at(answered, 'status')
    return {
      route,
      deliveryId: isText(deliveryId) ? deliveryId : undefined,
      event,
      text: isText(body) ? body : undefined,
      answered: typeof status === 'number' ? { status } : undefined,
    }
  })
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}
