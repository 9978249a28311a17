/**
 * The options of a batch, and the outcomes of its calls.
 *
 * @module
 */
import type { IntegrationError } from '@org/core/errors'
import type { CallOptions, Gate, Pass, ProviderClient } from '@org/core/http'
import type { Call } from './calls.ts'
import type { BatchJournal } from './journal.ts'
import type { MessageSettings } from './message.ts'
import type { BatchProgress, MessageResult } from './result.ts'

/** Options of `runBatch`. */
export interface BatchRunOptions {
  /** Asks for the right to make one call. */
  enter: ProviderClient['enter']
  /** Makes one call, and returns the provider’s body. */
  send: (call: Call, limits: CallOptions & { pass: Pass }) => Promise<unknown>
  /** Makes a message of an item; without it, the item is the message. Throws an `IntegrationError` if it cannot. */
  parse: ((item: unknown) => unknown) | undefined
  /** Whether a message that an earlier attempt did not send for sure is sent again. */
  resend: ((result: MessageResult) => boolean) | undefined
  settings: MessageSettings
  /** The most calls in flight at a time. */
  concurrency: number
  /** The largest body of a call of several messages, and the bodies of all calls in flight, in bytes. */
  callBytes: number
  inFlightBytes: number
  /**
   * Waits for the memory of a call, and returns a function that gives back a part, or all of it. Throws if the signal
   * fires first.
   */
  takeMemory?: ((bytes: number, signal: AbortSignal) => Promise<(part?: number) => void>) | undefined
  /** Lets other work go on between the messages. */
  breathe: () => Promise<void>
  gate: Gate
  /** How long the batch waits for a provider that is away, in milliseconds. */
  outageMs: number
  /** Longest time for one call, from when it leaves, in milliseconds. */
  timeoutMs: number
  signal: AbortSignal | undefined
  /** When all calls must be over, in milliseconds since 1970. */
  deadline: number
  /** Each ends the batch: no further call begins, and calls in flight go on. `stopping`: the host shuts down. */
  stop: AbortSignal | undefined
  stopping: AbortSignal | undefined
  /** With a journal, messages that an earlier attempt recorded are not sent again. */
  journal: BatchJournal | undefined
  /** Is called after each call. What it throws ends the batch. */
  onProgress: ((progress: BatchProgress) => void) | undefined
  wait: (milliseconds: number, signal: AbortSignal) => Promise<void>
}

/** The outcome of one call. */
export interface CallOutcome {
  /** Of each of its messages, in the order given. */
  results: MessageResult[]
  /** Why nothing was sent: the call did not begin, or the provider refused it as a whole. */
  unsent?: IntegrationError | undefined
  /** Whether something is known of a message: the provider has answered, or may have received it. */
  isSettled: boolean
}
