/**
 * The mail client: the only file that knows the provider's URLs and headers.
 *
 * @see https://postmarkapp.com/developer
 * @module
 */
import { createHttpClient, type HttpAnswer, type HttpRequest, maskAddresses } from '@org/core/http'
import { type BatchProgress, type BatchResult, type MessageResult, toBatchResult } from './batch.ts'
import { type Call, cutIntoCalls } from './calls.ts'
import { callError, missingToken, notUnderstood, refusalError } from './errors.ts'
import { flatten } from './flatten.ts'
import type { BatchJournal } from './journal.ts'
import { composeMessage, type Message } from './message.ts'
import { type CallOutcome, faultOf, makeCalls } from './sending.ts'
import {
  type DeliveryStats,
  readBatchAnswer,
  readNotice,
  readRejected,
  readSendAnswer,
  readServer,
  readStats,
  type SendAnswer,
  type ServerDetails,
} from './wire.ts'

/** The provider's API. */
export const DEFAULT_BASE_URL = 'https://api.postmarkapp.com'
/** The stream that every mail server has from the start. */
export const DEFAULT_MESSAGE_STREAM = 'outbound'

const BATCH: HttpRequest = { method: 'POST', path: '/email/batch', maxBytes: 10 * 1024 * 1024 }

/** Options of {@link createMailer}. */
export interface MailerOptions {
  /** The Server API Token. */
  apiToken: string
  /**
   * The sender of messages without a `from`.
   * @default none: then each message needs its own
   */
  fromEmail?: string | undefined
  /** @default 'outbound' */
  messageStream?: string | undefined
  /** @default 'https://api.postmarkapp.com' */
  baseUrl?: string | undefined
  /** @default globalThis.fetch */
  fetch?: typeof fetch | undefined
  /**
   * Longest time for one call of a method with everything under it, in milliseconds.
   * @default 30_000
   */
  timeoutMs?: number | undefined
  /**
   * Calls in flight at a time while a batch is sent.
   * @default 12
   */
  concurrency?: number | undefined
  /** Waits between two tries; tests pass one that does not. */
  wait?: ((milliseconds: number, signal: AbortSignal) => Promise<void>) | undefined
}

/** What every method takes beside its input. */
export interface CallOptions {
  /** Ends the call at once. */
  signal?: AbortSignal | undefined
  /**
   * Longest time for this call, in milliseconds.
   * @default the mailer's `timeoutMs`
   */
  timeoutMs?: number | undefined
}

/** What sending a batch takes beside the messages. */
export interface BatchOptions extends CallOptions {
  /**
   * Where each call is written down, so that a batch goes on after a crash, or when its time was not enough.
   * With one, `sendEmails` throws `overloaded` (retryable) while some of it is left.
   * @default none: what can't be sent in time is `failed`
   */
  journal?: BatchJournal | undefined
  /** Called after each call of the provider. */
  onProgress?: ((progress: BatchProgress) => void) | undefined
}

/** A mail that the provider accepted. */
export interface SentEmail {
  messageId: string
  /** ISO 8601, UTC. */
  submittedAt: string
  /** The recipients, as the provider names them. */
  to: string
  /** Recipients that the provider left out, because they are inactive. */
  rejected: string[]
  /** What else the provider said, where it is not understood; `null` mostly. It names no address. */
  notice: string | null
}

/** Which mail {@link Mailer.getDeliveryStats} counts. */
export interface StatsFilter {
  tag?: string | undefined
  /** A day, `YYYY-MM-DD`, in the provider's time zone. */
  fromDate?: string | undefined
  /** A day, `YYYY-MM-DD`, in the provider's time zone. */
  toDate?: string | undefined
  messageStream?: string | undefined
}

/**
 * Sends mail. Every method throws an `IntegrationError`; where its signal ended it before anything left, the
 * signal's reason.
 */
export interface Mailer {
  /**
   * Sends one mail. It is repeated only where it certainly did not go out.
   *
   * @throws `invalid_arguments` before anything leaves; `provider_rejected`; `outcome_unknown` where the mail
   * may have gone out
   * @see https://postmarkapp.com/developer/api/email-api#send-a-single-email
   */
  sendEmail(message: Message, options?: CallOptions): Promise<SentEmail>
  /**
   * Sends any number of mails, and tells of each what came of it.
   *
   * @throws only where nothing was sent at all, for example for a wrong token
   * @see https://postmarkapp.com/developer/api/email-api#send-batch-emails
   */
  sendEmails(
    messages: Iterable<Message> | AsyncIterable<Message>,
    options?: BatchOptions,
  ): Promise<BatchResult>
  /**
   * The same as a stream: reads no further than it sends, and holds only what is under way, so that memory stays
   * flat whatever the number. The results come in the order given.
   *
   * @throws what the source of the messages throws, and nothing else
   */
  streamEmails(
    messages: Iterable<Message> | AsyncIterable<Message>,
    options?: Omit<BatchOptions, 'journal'>,
  ): AsyncIterableIterator<MessageResult>
  /** @see https://postmarkapp.com/developer/api/stats-api#overview */
  getDeliveryStats(filter?: StatsFilter, options?: CallOptions): Promise<DeliveryStats>
  /**
   * The mail server that the token belongs to; the cheapest way to see whether it is accepted.
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
  // What timed out is not sent again, so one try may take all the time that there is.
  const sendHttp = createHttpClient({ ...connection, timeoutMs: Number.POSITIVE_INFINITY })

  async function call(
    request: HttpRequest,
    sending: boolean,
    deadline: number,
    signal?: AbortSignal,
  ): Promise<HttpAnswer> {
    // Not when the client is made: a module that makes one must also load where there is no token.
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
    const answer = await call(request, false, deadlineOf(options), options.signal)
    const value = reader(answer.body)
    if (value === undefined) throw notUnderstood(answer.status, false)
    return value
  }

  async function* outcomesOf(
    messages: Iterable<Message> | AsyncIterable<Message>,
    { signal, timeoutMs: limit, journal, onProgress }: BatchOptions,
  ): AsyncGenerator<CallOutcome> {
    // A batch may be of any length, so only its calls are limited where the caller gives no time for all.
    const deadline = limit === undefined ? Number.POSITIVE_INFINITY : Date.now() + limit
    const progress = { done: 0, sent: 0, failed: 0, unknown: 0 }
    async function send({ messages, jsonText }: Call): Promise<SendAnswer[]> {
      const callDeadline = Math.min(deadline, Date.now() + timeoutMs)
      const { body, status } = await call({ ...BATCH, jsonText }, true, callDeadline, signal)
      const answers = readBatchAnswer(body, messages.length)
      if (!answers) throw notUnderstood(status, true)
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

  async function* resultsOf(...batch: Parameters<typeof outcomesOf>): AsyncGenerator<MessageResult[]> {
    for await (const { results } of outcomesOf(...batch)) yield results
  }

  const deadlineOf = (options: CallOptions) => Date.now() + (options.timeoutMs ?? timeoutMs)

  return {
    async sendEmail(message, options = {}) {
      const composed = composeMessage(message, defaults)
      const request: HttpRequest = { method: 'POST', path: '/email', jsonText: composed.json }
      const { body, status } = await call(request, true, deadlineOf(options), options.signal)
      const answer = readSendAnswer(body)
      if (!answer) throw notUnderstood(status, true)
      if (!answer.accepted) throw refusalError(answer.refusal, { status })
      const { messageId, submittedAt, to, message: words } = answer
      const rejected = readRejected(words, composed.recipients)
      const notice = readNotice(maskAddresses(words), rejected)
      return { messageId, submittedAt, to: to || composed.to, rejected, notice }
    },

    async sendEmails(messages, options = {}) {
      const outcomes: CallOutcome[] = []
      for await (const outcome of outcomesOf(messages, options)) outcomes.push(outcome)
      const fault = faultOf(outcomes, options.journal !== undefined)
      if (fault) throw fault.reason
      return toBatchResult(outcomes.flatMap(({ results }) => results))
    },

    streamEmails(messages, options = {}) {
      return flatten(resultsOf(messages, options))
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

// The neutral header always; the provider's own name for it only where it is the provider that is spoken to.
function tokenHeaders(baseUrl: string, apiToken: string): Record<string, string> {
  const neutral = { 'x-mailer-server-token': apiToken }
  const isProvider = new URL(baseUrl).host === new URL(DEFAULT_BASE_URL).host
  return isProvider ? { ...neutral, 'x-postmark-server-token': apiToken } : neutral
}
