/** One event as the sandbox observes it: the request, the calls of the host, and the response. */
import type { LogLevel } from '@org/core/hosting'
import type { Fault } from '@org/core/testing'

/** The names and values of a message’s headers. */
export type HeaderList = readonly (readonly [name: string, value: string])[]

/** A request or a response. */
export interface Message {
  headers: HeaderList
  text: string
  /** The parsed JSON; the text if it is not JSON; `undefined` if it is empty. */
  body: unknown
}

/** One call of the host while it handles an event. */
export interface OutboundCall {
  to: 'platform' | 'provider'
  method: string
  /** With the query. */
  path: string
  url: string
  request: Message
  response: Message
  /** Absent until the response arrives. */
  status?: number
  /** Why no response arrived, or why nobody can read it. */
  failure?: string
  /** The fault that the emulator injected. */
  fault?: Fault
  /** Milliseconds after the event arrived. */
  startedMs: number
  /** Absent until the call ends. */
  durationMs?: number
}

/** A line of the host’s log. */
export interface LogLine {
  level: LogLevel
  message: string
  /** The fields of the line. */
  data?: object | undefined
}

/** An event that the host may still be handling. */
export interface OpenExchange {
  /** Counts the events since the start, from 1. */
  number: number
  /** When the event arrived, in milliseconds since 1970. */
  at: number
  /** The sender of the event: the walk or the page. `undefined` for a sender outside the sandbox. */
  source: string | undefined
  /** Identifies one delivery of the sandbox itself. */
  ticket: string | undefined
  /** The integration, for example `mailer`. */
  route: string
  deliveryId: string | undefined
  signed: boolean
  request: Message
  /** In the order in which they began. */
  calls: OutboundCall[]
  /** The lines of the host’s log about the event. */
  log: LogLine[]
  /** `replayed`: the host sent the response that it recorded. */
  response?: (Message & { status: number; replayed: boolean }) | undefined
  durationMs?: number
}

/** An event with its response. */
export type Exchange = OpenExchange & {
  response: NonNullable<OpenExchange['response']>
  durationMs: number
}

/** Whether the host has responded. */
export function isDone(exchange: OpenExchange): exchange is Exchange {
  return exchange.durationMs !== undefined
}

/** Carries the source and the ticket of a delivery; the host ignores this header. */
export const SOURCE_HEADER = 'sandbox-source'
