/**
 * The mail client. No other file knows the provider’s URLs and headers.
 *
 * @see https://postmarkapp.com/developer
 * @module
 */
import { type CallOptions, createProviderClient, type ProviderRequest } from '@org/core/http'
import { type BatchProgress, type BatchResult, type MessageResult, toBatchResult } from './batch.ts'
import { type Call, cutIntoCalls } from './calls.ts'
import { mailProvider, refusalError } from './errors.ts'
import type { BatchJournal } from './journal.ts'
import { composeMessage, type Message, type Messages } from './message.ts'
import { type CallOutcome, findFault, makeCalls } from './sending.ts'
import {
  type DeliveryStats,
  type Remark,
  readBatchResponse,
  readRemark,
  readSendResponse,
  readServer,
  readStats,
  type SendResponse,
  type ServerDetails,
} from './wire.ts'

/** The provider’s API. */
export const DEFAULT_BASE_URL = 'https://api.postmarkapp.com'
/** The stream that every mail server has. */
export const DEFAULT_MESSAGE_STREAM = 'outbound'

const EFFECT = 'the mail was sent'
const SINGLE: ProviderRequest = { method: 'POST', path: '/email', effect: EFFECT }
const BATCH: ProviderRequest = {
  method: 'POST',
  path: '/email/batch',
  effect: EFFECT,
  maxBytes: 10 * 1024 * 1024,
}

/** Options of {@link createMailer}. */
export interface MailerOptions {
  /** The Server API Token. */
  apiToken: string
  /**
   * The sender of messages without a `from`.
   * @default none: each message needs its own
   */
  fromEmail?: string | undefined
  /**
   * The stream of messages without a `messageStream`.
   * @default 'outbound'
   */
  messageStream?: string | undefined
  /** @default 'https://api.postmarkapp.com' */
  baseUrl?: string | undefined
  /** @default globalThis.fetch */
  fetch?: typeof fetch | undefined
  /**
   * Longest time for one call of a method, including all attempts, in milliseconds.
   * @default 30_000
   */
  timeoutMs?: number | undefined
  /**
   * Calls in flight at a time while a batch is sent.
   * @default 12
   */
  concurrency?: number | undefined
  /**
   * Waits between two attempts; a test can pass a function that returns at once.
   * @default a timer
   */
  wait?: ((milliseconds: number, signal: AbortSignal) => Promise<void>) | undefined
}

/** Options of {@link Mailer.sendEmails}. */
export interface BatchOptions extends CallOptions {
  /**
   * Records each call, so that a batch can go on after a crash or a time limit. With a journal, `sendEmails`
   * throws `overloaded` (retryable) while messages are left.
   * @default none: a message for which the time is too short is `failed`
   */
  journal?: BatchJournal | undefined
  /** Is called after each call of the provider. */
  onProgress?: ((progress: BatchProgress) => void) | undefined
}

/** A mail that the provider accepted. */
export interface SentEmail extends Remark {
  messageId: string
  /** ISO 8601, UTC. */
  submittedAt: string
  /** The recipients, as the provider names them. */
  to: string
}

/** Selects the mail that {@link Mailer.getDeliveryStats} counts. */
export interface StatsFilter {
  tag?: string | undefined
  /** A day, `YYYY-MM-DD`, in the provider’s time zone. */
  fromDate?: string | undefined
  /** A day, `YYYY-MM-DD`, in the provider’s time zone. */
  toDate?: string | undefined
  messageStream?: string | undefined
}

/**
 * Sends mail. Every method throws an `IntegrationError`, or the reason of its signal if the signal fires before
 * anything is sent.
 */
export interface Mailer {
  /**
   * Sends one mail. A mail is retried only if it was certainly not sent.
   *
   * @throws `invalid_arguments` before anything is sent; `provider_rejected`; `outcome_unknown` if the mail may
   * have been sent
   * @see https://postmarkapp.com/developer/api/email-api#send-a-single-email
   */
  sendEmail(message: Message, options?: CallOptions): Promise<SentEmail>
  /**
   * Sends any number of mails, and returns a result for each.
   *
   * @throws only if nothing was sent at all, for example because the token is wrong
   * @see https://postmarkapp.com/developer/api/email-api#send-batch-emails
   */
  sendEmails(messages: Messages, options?: BatchOptions): Promise<BatchResult>
  /**
   * Sends the messages of a stream, and yields a result for each, in the order given. It reads no further than
   * it sends, so memory does not grow with the number of messages.
   *
   * @throws only what the source of the messages throws
   */
  streamEmails(
    messages: Messages,
    options?: Omit<BatchOptions, 'journal'>,
  ): AsyncIterableIterator<MessageResult>
  /**
   * Returns the totals of outbound mail.
   *
   * @see https://postmarkapp.com/developer/api/stats-api#overview
   */
  getDeliveryStats(filter?: StatsFilter, options?: CallOptions): Promise<DeliveryStats>
  /**
   * Returns the mail server that the token belongs to: the cheapest check of a token.
   *
   * @see https://postmarkapp.com/developer/api/server-api#get-server
   */
  getServer(options?: CallOptions): Promise<ServerDetails>
}

/**
 * Makes a mail client.
 *
 * @example
 * ```ts
 * const mailer = createMailer({ apiToken, fromEmail: 'Shop <shop@example.com>' })
 * const { messageId } = await mailer.sendEmail({ to: 'ada@example.com', subject: 'Hello', textBody: 'Hi Ada' })
 * ```
 */
export function createMailer(options: MailerOptions): Mailer {
  const { apiToken = '', baseUrl = DEFAULT_BASE_URL, concurrency = 12, timeoutMs = 30_000 } = options
  const defaults = {
    fromEmail: options.fromEmail || undefined,
    messageStream: options.messageStream || DEFAULT_MESSAGE_STREAM,
  }
  const provider = createProviderClient(mailProvider, {
    baseUrl,
    credential: apiToken,
    headers: tokenHeaders(baseUrl, apiToken),
    fetch: options.fetch,
    timeoutMs,
    wait: options.wait,
  })

  async function* outcomesOf(
    messages: Messages,
    { journal, onProgress, ...callOptions }: BatchOptions,
  ): AsyncGenerator<CallOutcome> {
    // A batch may have any length, so only its calls have a time limit by default.
    const { signal, deadline } = provider.within({ timeoutMs: Number.POSITIVE_INFINITY, ...callOptions })
    const progress = { done: 0, sent: 0, failed: 0, unknown: 0 }
    async function send({ messages, jsonText }: Call): Promise<SendResponse[]> {
      const read = (body: unknown) => readBatchResponse(body, messages.length)
      const until = Math.min(deadline, Date.now() + timeoutMs)
      const { value } = await provider.call({ ...BATCH, jsonText }, read, { signal, deadline: until })
      return value
    }
    const calls = cutIntoCalls(messages, defaults)
    for await (const outcome of makeCalls(calls, { send, concurrency, signal, deadline, journal })) {
      for (const { status } of outcome.results) {
        progress.done += 1
        progress[status] += 1
      }
      onProgress?.({ ...progress })
      yield outcome
    }
  }

  return {
    async sendEmail(message, options = {}) {
      const { json, to, recipients } = composeMessage(message, defaults)
      const request = { ...SINGLE, jsonText: json }
      const { value: response, status } = await provider.call(request, readSendResponse, options)
      if (!response.accepted) throw refusalError(response.refusal, { status })
      const { messageId, submittedAt } = response
      return { messageId, submittedAt, to: response.to || to, ...readRemark(response.message, recipients) }
    },

    async sendEmails(messages, options = {}) {
      const outcomes: CallOutcome[] = []
      for await (const outcome of outcomesOf(messages, options)) outcomes.push(outcome)
      const fault = findFault(outcomes, options.journal !== undefined)
      if (fault) throw fault.reason
      return toBatchResult(outcomes.flatMap(({ results }) => results))
    },

    async *streamEmails(messages, options = {}) {
      for await (const { results } of outcomesOf(messages, options)) yield* results
    },

    async getDeliveryStats({ tag, fromDate, toDate, messageStream } = {}, options = {}) {
      const query = { tag, fromdate: fromDate, todate: toDate, messagestream: messageStream }
      const request: ProviderRequest = { method: 'GET', path: '/stats/outbound', query }
      return (await provider.call(request, readStats, options)).value
    },

    async getServer(options = {}) {
      return (await provider.call({ method: 'GET', path: '/server' }, readServer, options)).value
    },
  }
}

// The provider’s own name of the header goes only to the provider itself.
function tokenHeaders(baseUrl: string, apiToken: string): Record<string, string> {
  const neutral = { 'x-mailer-server-token': apiToken }
  const isProvider = new URL(baseUrl).host === new URL(DEFAULT_BASE_URL).host
  return isProvider ? { ...neutral, 'x-postmark-server-token': apiToken } : neutral
}
