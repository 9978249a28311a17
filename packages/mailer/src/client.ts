/**
 * The mail client. No other file knows the provider’s URLs and headers.
 *
 * @see https://postmarkapp.com/developer
 * @module
 */
import { type CallOptions, createProviderClient, pause } from '@org/core/http'
import type { Address } from './address.ts'
import type { BatchSender } from './batch-sender.ts'
import { composeMessage, isRich } from './compose.ts'
import { mailProvider } from './errors.ts'
import { toMailError } from './mail-error.ts'
import type { Message, MessageDefaults, MessageSettings, Messages } from './message.ts'
import { callRules, checkOptions, mailerRules } from './options.ts'
import type { BatchResult, MessageResult } from './result.ts'
import type { BatchOptions, HostOptions } from './run.ts'
import { callProvider, type SentEmail, sendComposed } from './single.ts'
import type { DeliveryStats, StatsFilter } from './stats.ts'
import { readServer, type ServerDetails } from './wire.ts'

/** The provider’s API. */
export const DEFAULT_BASE_URL = 'https://api.postmarkapp.com'
/** The stream that every mail server has. */
export const DEFAULT_MESSAGE_STREAM = 'outbound'

/** The provider’s own name of the header with the token. It goes to nobody else. */
const PROVIDER_TOKEN_HEADER = 'x-postmark-server-token'

/** Options of {@link createMailer}. */
export interface MailerOptions {
  /** The Server API Token. */
  apiToken: string
  /**
   * The sender of messages without a `from`.
   * @default none: each message needs its own
   */
  fromEmail?: Address | undefined
  /**
   * The stream of messages without a `messageStream`.
   * @default 'outbound'
   */
  messageStream?: string | undefined
  /** @default 'https://api.postmarkapp.com' */
  baseUrl?: string | undefined
  /** The defaults of every message. A message’s own field wins; `headers` and `metadata` are merged by name. */
  defaults?: MessageDefaults | undefined
  /** HTTP headers of every request, for example for a gateway in front of the provider. */
  headers?: Readonly<Record<string, string>> | undefined
  /** @default globalThis.fetch */
  fetch?: typeof fetch | undefined
  /**
   * Longest time for one call of a method, including all attempts, in milliseconds.
   * @default 30_000
   */
  timeoutMs?: number | undefined
  /**
   * The most calls in flight at a time while a batch is sent. The first call goes alone; each answer lets one more go.
   * @default 12
   */
  concurrency?: number | undefined
  /**
   * Waits between two attempts; a test can pass a function that returns at once.
   * @default a timer
   */
  wait?: ((milliseconds: number, signal: AbortSignal) => Promise<void>) | undefined
}

/**
 * Sends mail. Every method throws a `MailError`, except that a batch throws what its source throws.
 */
export interface Mailer {
  /**
   * Sends one mail. A mail is retried only if it was certainly not sent.
   *
   * @throws `invalid_arguments` before anything is sent; `provider_rejected`; `outcome_unknown` if the mail may
   * have been sent; `aborted` if the signal fires before
   * @see https://postmarkapp.com/developer/api/email-api#send-a-single-email
   */
  sendEmail(message: Message, options?: CallOptions): Promise<SentEmail>
  /**
   * Sends any number of mails, and returns a result for each.
   *
   * @throws if nothing was sent at all, for example because the token is wrong; or if messages of the source were
   * not read: what the source threw, or why the batch ended. `error.results` has the results until then.
   * @see https://postmarkapp.com/developer/api/email-api#send-batch-emails
   */
  sendEmails(messages: Messages, options?: BatchOptions): Promise<BatchResult>
  /**
   * Sends the messages of a stream, and yields a result for each, in the order given. It reads no further than
   * it sends, so memory does not grow with the number of messages. A call leaves when it is full, or when its first
   * message is 100 ms old.
   *
   * @throws what the source of the messages throws, or why the batch ended before the source did, or with a journal
   * before all was sent, after the results
   */
  streamEmails(messages: Messages, options?: BatchOptions): AsyncIterableIterator<MessageResult>
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
 * @throws {MailError} `invalid_arguments` if an option is invalid; `missing_credentials` if the token is
 * @example
 * ```ts
 * const mailer = createMailer({ apiToken, fromEmail: 'Shop <shop@example.com>' })
 * const { messageId } = await mailer.sendEmail({ to: 'ada@example.com', subject: 'Hello', textBody: 'Hi Ada' })
 * ```
 */
export function createMailer(options: MailerOptions): Mailer {
  return createClient(options)
}

/** A mailer that checks whatever it is given, and whose batches take items of any kind. */
export interface MailClient extends Omit<Mailer, 'sendEmail' | 'sendEmails'> {
  sendEmail(message: unknown, options?: CallOptions): Promise<SentEmail>
  sendEmails: BatchSender['sendEmails']
}

/** Makes a mail client for the webhook. */
export function createClient(options: MailerOptions, host: Partial<HostOptions> = {}): MailClient {
  checkOptions(options, mailerRules)
  const { apiToken = '', baseUrl = DEFAULT_BASE_URL, concurrency = 12, timeoutMs = 30_000 } = options
  const { fetch, wait = pause } = options
  const settings: MessageSettings = {
    ...options.defaults,
    from: options.fromEmail,
    messageStream: options.messageStream || DEFAULT_MESSAGE_STREAM,
  }
  const isProvider = new URL(baseUrl).host === new URL(DEFAULT_BASE_URL).host
  const headers = {
    ...options.headers,
    'x-mailer-server-token': apiToken,
    ...(isProvider && { [PROVIDER_TOKEN_HEADER]: apiToken }),
  }
  // The provider may repeat the token in its words. A host has a reader and masks of its own.
  const spare = (name: string, value: unknown) =>
    name === 'Message' && typeof value === 'string' ? value.replaceAll(apiToken.trim(), '[token]') : value
  const { readJson = (text: string) => ({ value: JSON.parse(text, spare) }) } = host
  const connection = { baseUrl, credential: apiToken, headers, fetch, timeoutMs, wait, readJson }
  const provider = createProviderClient(mailProvider, connection)
  try {
    provider.checkCredential()
  } catch (error) {
    throw toMailError(error)
  }

  const onDemand = () => import('./on-demand.ts')
  const loadBatches = async () => {
    const { createBatchSender } = await onDemand()
    return createBatchSender(provider, { settings, concurrency, timeoutMs, wait, ...host })
  }

  return {
    sendEmails: async (items, batchOptions) => (await loadBatches()).sendEmails(items, batchOptions),

    async *streamEmails(messages, batchOptions) {
      yield* (await loadBatches()).stream(messages, batchOptions)
    },

    async sendEmail(message, options = {}) {
      checkOptions(options, callRules, 'options', true)
      const limits = provider.within(options)
      if (isRich(message)) return (await onDemand()).sendRich(provider, message, settings, limits)
      return sendComposed(provider, composeMessage(message, settings), limits)
    },

    getDeliveryStats: async (filter = {}, options = {}) =>
      (await onDemand()).readStats(provider, filter, options),

    getServer: async (options = {}) =>
      callProvider(provider, { method: 'GET', path: '/server' }, readServer, options),
  }
}
