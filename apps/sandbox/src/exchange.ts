/**
 * What is seen of an event: the request, what the host did, and the answer.
 *
 * @module
 */
import type { LogLevel } from '@org/core/internal'

/** The names and values of a message’s headers. */
export type HeaderList = readonly (readonly [name: string, value: string])[]

/** One call that the host made while it handled an event. */
export interface OutboundCall {
  to: 'platform' | 'provider'
  method: string
  /** With the query, where there is one. */
  path: string
  /** Parsed, where it is JSON. */
  body: unknown
  /** `undefined` where no answer came. */
  status: number | undefined
  /** What was answered; parsed, where it is JSON. */
  answer: unknown
  /** The whole URL. */
  url: string
  requestHeaders: HeaderList
  requestText: string
  answerHeaders: HeaderList
  answerText: string
  /** Why no answer came, where none did. */
  failure: string | undefined
  /** After the event came in. */
  startedMs: number
  /** `undefined` while it is under way. */
  durationMs: number | undefined
}

/** A line of the host's own log. */
export interface LogLine {
  level: LogLevel
  message: string
}

/** What an event was answered. */
export interface ExchangeAnswer {
  status: number
  /** Whether the answer was recorded by an earlier delivery. */
  replayed: boolean
  /** The parsed JSON. */
  body: unknown
  headers: HeaderList
  text: string
}

/** One event, from the request to the answer. */
export interface Exchange {
  /** Counts the events since the start, from 1. */
  number: number
  /** When it came in, in milliseconds since 1970. */
  at: number
  /** Who delivered it, as {@link SOURCE_HEADER} says; `undefined`: somebody outside. */
  source: string | undefined
  /** The integration, for example `mailer`. */
  route: string
  deliveryId: string | undefined
  signed: boolean
  headers: HeaderList
  text: string
  /** The parsed JSON, or the text where it is none. */
  event: unknown
  /** In the order in which they began. */
  calls: OutboundCall[]
  /** Warnings and errors of the host. */
  log: LogLine[]
  answer: ExchangeAnswer
  durationMs: number
}

/** An event that may still be under way. */
export interface OpenExchange extends Omit<Exchange, 'answer' | 'durationMs'> {
  answer: ExchangeAnswer | undefined
  durationMs: number | undefined
}

/** Says who of this sandbox delivered an event; the host does not look at it. */
export const SOURCE_HEADER = 'sandbox-source'
