/**
 * The mail client. No other file knows the provider’s URLs and headers.
 *
 * @see https://postmarkapp.com/developer
 * @module
 */
import { createHttpClient, type HttpAnswer, type HttpRequest } from '@org/core/http'
import { type BatchProgress, type BatchResult, type MessageResult, toBatchResult } from './batch.ts'
import { type Call, cutIntoCalls } from './calls.ts'
import { callError, missingToken, refusalError, unexpectedResponse } from './errors.ts'
import { flattenResults } from './flatten.ts'
import type { BatchJournal } from './journal.ts'
import { composeMessage, type Message, type Messages } from './message.ts'
import { type CallOutcome, findFault, makeCalls } from './sending.ts'
import {
  type DeliveryStats,
  type Remark,
  readBatchAnswer,
  readRemark,
  readSendAnswer,
  readServer,
  readStats,
  type SendAnswer,
  type ServerDetails,
} from './wire.ts'

/** The provider’s API. */
export const DEFAULT_BASE_URL = 'https://api.postmarkapp.com'
/** The stream that every mail server has. */
export const DEFAULT_MESSAGE_STREAM = 'outbound'

const BATCH: HttpRequest = { method: 'POST', path: '/email/batch', maxBytes: 10 * 1024 * 1024 }

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

/** Options of every method. */
export interface CallOptions {
  /** Ends the call at once. */
  signal?: AbortSignal | undefined
  /**
   * Longest time for this call, in milliseconds.
   * @default the mailer’s `timeoutMs`
   */
  timeoutMs?: number | undefined
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
  const { apiToken = '', baseUrl = DEFAULT_BASE_URL, timeoutMs = 30_000, concurrency = 12 } = options
  const defaults = {
    fromEmail: options.fromEmail || undefined,
    messageStream: options.messageStream || DEFAULT_MESSAGE_STREAM,
  }
  const connection = {
    baseUrl,
    headers: tokenHeaders(baseUrl, apiToken),
    fetch: options.fetch,
    wait: options.wait,
  }
  const readHttp = createHttpClient(connection)
  // A send that timed out is not retried, so one attempt may use the whole time.
  const sendHttp = createHttpClient({ ...connection, timeoutMs: Number.POSITIVE_INFINITY })
  const deadlineOf = (options: CallOptions) => Date.now() + (options.timeoutMs ?? timeoutMs)

  async function call(
    request: HttpRequest,
    sending: boolean,
    deadline: number,
    signal?: AbortSignal,
  ): Promise<HttpAnswer> {
    // Checked here, because a module that makes a client must also load without a token.
    if (!/^[!-~]+$/.test(apiToken.trim())) throw missingToken()
    try {
      const http = sending ? sendHttp : readHttp
      return await http({ ...request, repeatable: !sending, deadline, signal })
    } catch (error) {
      throw callError(error, sending)
    }
  }

  async function read<T>(
    request: HttpRequest,
    reader: (body: unknown) => T | undefined,
    options: CallOptions,
  ): Promise<T> {
    const { body, status } = await call(request, false, deadlineOf(options), options.signal)
    const value = reader(body)
    if (value === undefined) throw unexpectedResponse(status, false)
    return value
  }

  async function* outcomesOf(
    messages: Messages,
    { signal, timeoutMs: limit, journal, onProgress }: BatchOptions,
  ): AsyncGenerator<CallOutcome> {
    // A batch may have any length, so only its calls have a time limit by default.
    const deadline = limit === undefined ? Number.POSITIVE_INFINITY : Date.now() + limit
    const progress = { done: 0, sent: 0, failed: 0, unknown: 0 }
    async function send({ messages, jsonText }: Call): Promise<SendAnswer[]> {
      const callDeadline = Math.min(deadline, Date.now() + timeoutMs)
      const { body, status } = await call({ ...BATCH, jsonText }, true, callDeadline, signal)
      const answers = readBatchAnswer(body, messages.length)
      if (!answers) throw unexpectedResponse(status, true)
      return answers
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
      const request: HttpRequest = { method: 'POST', path: '/email', jsonText: json }
      const { body, status } = await call(request, true, deadlineOf(options), options.signal)
      const answer = readSendAnswer(body)
      if (!answer) throw unexpectedResponse(status, true)
      if (!answer.accepted) throw refusalError(answer.refusal, { status })
      const { messageId, submittedAt } = answer
      return { messageId, submittedAt, to: answer.to || to, ...readRemark(answer.message, recipients) }
    },

    async sendEmails(messages, options = {}) {
      const outcomes: CallOutcome[] = []
      for await (const outcome of outcomesOf(messages, options)) outcomes.push(outcome)
      const fault = findFault(outcomes, options.journal !== undefined)
      if (fault) throw fault.reason
      return toBatchResult(outcomes.flatMap(({ results }) => results))
    },

    streamEmails(messages, options = {}) {
      return flattenResults(outcomesOf(messages, options))
    },

    getDeliveryStats({ tag, fromDate, toDate, messageStream } = {}, options = {}) {
      const query = { tag, fromdate: fromDate, todate: toDate, messagestream: messageStream }
      return read({ method: 'GET', path: '/stats/outbound', query }, readStats, options)
    },

    getServer(options = {}) {
      return read({ method: 'GET', path: '/server' }, readServer, options)
    },
  }
}

// The provider’s own name of the header goes only to the provider itself.
function tokenHeaders(baseUrl: string, apiToken: string): Record<string, string> {
  const neutral = { 'x-mailer-server-token': apiToken }
  const isProvider = new URL(baseUrl).host === new URL(DEFAULT_BASE_URL).host
  return isProvider ? { ...neutral, 'x-postmark-server-token': apiToken } : neutral
}
