/**
 * Sends batches and streams: the calls of the provider’s batch endpoint, and what the caller learns of them.
 *
 * @module
 */
import { IntegrationError } from '@org/core/errors'
import type { CallOptions, ProviderClient, ProviderRequest } from '@org/core/http'
import { toBatchResult } from './batch.ts'
import type { Call } from './calls.ts'
import { SENDING } from './errors.ts'
import type { BatchJournal } from './journal.ts'
import { MailError, toMailError } from './mail-error.ts'
import type { MessageDefaults, Messages } from './message.ts'
import { callRules, checkOptions, checkSource } from './options.ts'
import type { BatchProgress, BatchResult, MessageResult } from './result.ts'
import { type BatchEnd, type CallOutcome, runBatch } from './sending.ts'

/** Options of {@link Mailer.sendEmails}. */
export interface BatchOptions extends CallOptions {
  /**
   * Records each message, so that a batch can go on after a crash or a time limit. With a journal, `sendEmails`
   * throws `overloaded` (retryable) while messages are left.
   * @default none: a message for which the time is too short is `failed`
   */
  journal?: BatchJournal | undefined
  /** Is called after each call of the provider. If it throws, no further call begins, and the batch throws the same. */
  onProgress?: ((progress: BatchProgress) => void) | undefined
}

/** Sends batches. */
export interface BatchSender {
  sendEmails(items: Messages | readonly unknown[], options?: BatchOptions & ItemOptions): Promise<BatchResult>
  streamEmails(
    messages: Messages,
    options?: Omit<BatchOptions, 'journal'>,
  ): AsyncIterableIterator<MessageResult>
}

interface ItemOptions {
  /**
   * Makes a message of an item when its call is due. Throws an `IntegrationError` if it cannot.
   * @default the item is the message
   */
  parse?: ((item: unknown) => unknown) | undefined
}

interface BatchSenderOptions {
  provider: ProviderClient
  defaults: MessageDefaults
  concurrency: number
  timeoutMs: number
  wait: (milliseconds: number, signal: AbortSignal) => Promise<void>
}

const BATCH: ProviderRequest = {
  method: 'POST',
  path: '/email/batch',
  effect: SENDING,
  maxBytes: 10 * 1024 * 1024,
  // The batch itself repeats calls that were not sent.
  attempts: 1,
}

/** Makes the batch methods of a mailer. */
export function createBatchSender({ provider, ...settings }: BatchSenderOptions): BatchSender {
  async function send({ messages }: Call, limits: CallOptions): Promise<unknown> {
    const jsonParts = messages.flatMap(({ parts }, at) => [at === 0 ? '[' : ',', ...parts])
    const request = { ...BATCH, jsonParts: [...jsonParts, ']'] }
    return (await provider.call(request, (body) => ({ body }), limits)).value.body
  }

  function run(
    items: Messages | readonly unknown[],
    options: BatchOptions & ItemOptions,
  ): AsyncGenerator<CallOutcome, BatchEnd> {
    checkOptions(options, callRules)
    checkSource(items)
    const { parse, journal, onProgress } = options
    // A batch may have any length, so only its calls have a time limit by default.
    const limits = provider.within({ timeoutMs: Number.POSITIVE_INFINITY, ...options })
    return runBatch(items, { ...settings, ...limits, send, parse, journal, onProgress })
  }

  return {
    async sendEmails(items, options = {}) {
      const batch = run(items, options)
      const outcomes: CallOutcome[] = []
      for (;;) {
        const { done, value } = await batch.next()
        if (!done) {
          outcomes.push(value)
          continue
        }
        const result = toBatchResult(outcomes.flatMap(({ results }) => results))
        if (value.thrown) throw withResults(value.thrown.reason, result.results)
        const error = failureOf(outcomes, value, options.journal !== undefined)
        if (error) throw toMailError(error, { results: result.results })
        return result
      }
    },

    async *streamEmails(messages, options = {}) {
      const batch = run(messages, options)
      try {
        for (;;) {
          const { done, value } = await batch.next()
          if (!done) {
            yield* value.results
            continue
          }
          if (value.thrown) throw value.thrown.reason
          if (value.isUnread) throw toMailError(value.ended)
          return
        }
      } finally {
        await batch.return({})
      }
    },
  }
}

/**
 * Why a batch has no result: nothing was sent at all; or, with a journal, messages are left to the next attempt.
 *
 * @returns `undefined` if the batch has a result
 */
function failureOf(
  outcomes: readonly CallOutcome[],
  { ended, isUnread }: BatchEnd,
  hasJournal: boolean,
): IntegrationError | undefined {
  const unsent = outcomes.flatMap((outcome) => (outcome.kind === 'unsent' ? outcome.reason : []))
  const reasons = ended ? [ended, ...unsent] : unsent
  const left = reasons.find(({ retryable }) => retryable)
  if (!hasJournal || !left) {
    const isNothingSent = !outcomes.some(({ kind }) => kind === 'settled')
    return isUnread || isNothingSent ? reasons[0] : undefined
  }
  // Another delivery has taken over.
  if (left.code === 'delivery_in_progress') return left
  const done = outcomes.length - unsent.length
  return new IntegrationError(
    'overloaded',
    `${done} of the ${outcomes.length} calls of this batch are done.`,
    {
      hint: 'Deliver the event again with the same id to send the rest.',
      retryAfter: left.retryAfter ?? 1,
      cause: left,
    },
  )
}

/** Adds the results to what the caller’s own code threw. A property that is not enumerable stays out of logs. */
function withResults(reason: unknown, results: readonly MessageResult[]): unknown {
  const isObject = typeof reason === 'object' && reason !== null
  const property = { value: results, enumerable: false, configurable: true, writable: true }
  if (isObject && Reflect.defineProperty(reason, 'results', property)) return reason
  return new MailError('aborted', 'The source of the messages failed.', { cause: reason, results })
}
