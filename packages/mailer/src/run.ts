/**
 * The options of a batch, and the outcomes of its calls.
 *
 * @module
 */
import type { ErrorCode, IntegrationError } from '@org/core/errors'
import type { CallOptions, JsonReader, ProviderClient } from '@org/core/http'
import type { PlacedMessage } from './batch.ts'
import type { BatchJournal } from './journal.ts'
import type { MailError } from './mail-error.ts'
import type { BatchMemory } from './memory.ts'
import type { MessageSettings } from './message.ts'
import type { BatchProgress, MessageResult } from './result.ts'

/** Options of {@link Mailer.sendEmails}. */
export interface BatchOptions extends CallOptions {
  /**
   * Records each message by its `key`, so that a batch can go on after a crash or a time limit. With a journal, a
   * batch and a stream throw a retryable error while messages are left.
   * @default none: a message for which the time is too short is `failed`
   */
  journal?: BatchJournal | undefined
  /**
   * Is asked for each message that the journal knows as `failed` or `unknown`: `true` sends it again.
   * @default such a message is not sent again
   */
  resend?: ((result: MessageResult) => boolean | Promise<boolean>) | undefined
  /**
   * How long the batch waits for a provider that is away, in milliseconds. After it, the messages that are left are
   * `failed`, and may be sent again.
   * @default 60_000
   */
  outageMs?: number | undefined
  /** Ends the batch well: no further call begins, calls in flight are awaited, and the rest is left for the next run. */
  stop?: AbortSignal | undefined
  /** Is called after each call of the provider, and awaited, but only for a second after the end. If it throws, no further call begins, and the batch throws the same. */
  onProgress?: ((progress: BatchProgress) => unknown) | undefined
}

/** Options of a host’s batches. */
export interface HostBatchOptions extends BatchOptions {
  /** Makes a message of an item when its call is due, or throws an `IntegrationError`. */
  parse?: (item: unknown) => unknown
  /** How a batch goes on whose messages are left, the code of one that was stopped, and the effect of mails that have left. */
  rest?: { hint: string; stopped: ErrorCode; effect: MailError['effect'] }
}

/** The parts that differ between a host and an SDK. */
export interface HostOptions {
  /** Reads responses. A server that a deployment brings must not exhaust the host. */
  readJson: JsonReader
  /** The largest body of a call of several messages, in bytes. */
  callBytes: number
  /** The memory for the bodies of calls, which the owner of the mailer shares with others. */
  memory: BatchMemory
  owner: string
}

/** The settings of a mailer that its batches need. */
export interface MailerSettings extends Partial<HostOptions> {
  settings: MessageSettings
  concurrency: number
  /** Longest time for one call, from when it leaves, in milliseconds. */
  timeoutMs: number
  wait: (milliseconds: number, signal: AbortSignal) => Promise<void>
}

/** Everything that one batch is sent with. */
export interface BatchRun
  extends MailerSettings,
    Omit<HostBatchOptions, keyof CallOptions>,
    ReturnType<ProviderClient['within']> {
  provider: ProviderClient
  outageMs: number
  callBytes: number
}

/** One call of the provider’s batch endpoint. */
export interface Call {
  messages: PlacedMessage[]
  /** The JSON of the body. */
  json: string
  /** The size of `json` in UTF-8, or an upper bound. */
  bytes: number
  /** The results of messages that are not sent: invalid, recorded by an earlier attempt, or too late. */
  settled: MessageResult[]
}

/** The outcome of one call. */
export interface CallOutcome {
  /** Of each of its messages, in the order given. */
  results: MessageResult[]
  /** Why nothing was sent: the call did not begin, or the provider refused it as a whole. */
  unsent?: IntegrationError | undefined
}
