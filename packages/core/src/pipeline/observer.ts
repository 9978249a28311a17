/**
 * The port through which a host watches its events, for metrics and traces.
 *
 * @module
 */
import type { ErrorCode } from '../errors.ts'
import type { EventName } from '../contract/event.ts'

/** What came of an event, in a word. */
export type EventOutcome = 'ok' | 'ignored' | 'replayed' | 'refused' | 'failed'

/** What the host's log says of an event: no body, no secret, no mail address. */
export type EventRecord = {
  /** The integration's name. */
  route: string
  /** Absent where the request was refused before it was read. */
  event: EventName | undefined
  /** The function that was asked for, as the sender wrote it: it need not exist. */
  function: string | undefined
  deployment: string | undefined
  delivery: string | undefined
  outcome: EventOutcome
  /** The HTTP status. */
  status: number
  /** Of a failure. */
  code: ErrorCode | undefined
  replayed: boolean | undefined
  durationMs: number
  /** Requests to the provider, repetitions included. */
  providerCalls: number
  /** What a fault of the host was, and where. */
  reason?: string
  at?: string[]
}

/** A part of an event's work: the integration's handler, or waiting until the platform was told. */
export type EventStep = 'handler' | 'report'

/** Watches events. What it is told is what the log is told, so nothing is measured twice; it must not throw. */
export interface Observer {
  /** Told of each event once, when it is answered. */
  answered?(record: EventRecord): void
  /** Runs a part of an event's work, and passes on what comes of it. */
  step?<Result>(name: EventStep, work: () => Promise<Result>): Promise<Result>
}
