/**
 * Sends batches and streams: the calls of the provider’s batch endpoint, and what the caller learns of them.
 *
 * @module
 */
import { IntegrationError } from '@org/core/errors'
import type { CallOptions, Pass, ProviderClient, ProviderRequest } from '@org/core/http'
import { toBatchResult } from './batch.ts'
import { SENDING } from './errors.ts'
import { isRecord } from './fields.ts'
import { MailError, toMailError } from './mail-error.ts'
import type { Messages } from './message.ts'
import { callRules, checkOptions, invalidOptions, type Rules, rules } from './options.ts'
import type { BatchResult, MessageResult } from './result.ts'
import type { BatchOptions, Call, CallOutcome, HostBatchOptions, MailerSettings } from './run.ts'
import { type BatchEnd, runBatch } from './sending.ts'

/** Sends batches. */
export interface BatchSender {
  sendEmails(items: Messages | readonly unknown[], options?: HostBatchOptions): Promise<BatchResult>
  /** The results, call by call. */
  stream(messages: Messages, options?: BatchOptions): AsyncGenerator<MessageResult[], void>
}

const batchRules: Rules = {
  ...callRules,
  stop: rules.signal,
  outageMs: rules.duration,
  onProgress: rules.function,
  resend: rules.function,
  journal: [
    (value) => isRecord(value) && 'read' in value && 'write' in value,
    'an object with read and write',
  ],
  // Those of the host.
  stopping: rules.signal,
  gate: rules.object,
  parse: rules.function,
}

const BATCH: ProviderRequest = {
  method: 'POST',
  path: '/email/batch',
  change: SENDING,
  // The batch itself repeats calls that were not sent.
  attempts: 1,
}

const LONGEST_OUTAGE_MS = 60_000
/** The hint for a batch with a journal that is not done. */
const REST = 'Send the batch again with the same journal: it sends the rest.'

/** The answer to a message has 200 bytes, and names its recipients, with up to six bytes for a character. */
const ANSWER = { bytes: 2_000, bytesPerCharacter: 8 }
const SHORTEST_LIMIT = 64 * 1024

/** Makes the batch methods of a mailer. */
export function createBatchSender(provider: ProviderClient, settings: MailerSettings): BatchSender {
  async function send(
    { messages, json: jsonText }: Call,
    limits: CallOptions & { pass: Pass },
  ): Promise<unknown> {
    let expected = messages.length * ANSWER.bytes
    for (const { to, recipients } of messages) {
      expected += to.length * ANSWER.bytesPerCharacter
      for (const address of recipients) expected += (address.length + 1) * ANSWER.bytesPerCharacter
    }
    const request = { ...BATCH, jsonText, maxBytes: Math.max(SHORTEST_LIMIT, expected) }
    // Anything but a list leaves the outcome of the call unknown, and shuts the gate.
    const read = (body: unknown) => (Array.isArray(body) ? { body } : undefined)
    return (await provider.call(request, read, limits)).value.body
  }

  function run(
    items: Messages | readonly unknown[],
    options: HostBatchOptions,
  ): AsyncGenerator<CallOutcome, BatchEnd> {
    checkOptions(options, batchRules, { isClosed: true })
    checkSource(items)
    // A batch may have any length, so only its calls have a time limit by default.
    const limits = provider.within({ timeoutMs: Number.POSITIVE_INFINITY, ...options })
    const { journal, stopping, outageMs = LONGEST_OUTAGE_MS } = options
    const work = { ...options, ...settings, ...limits, outageMs, stopping: journal && stopping }
    return runBatch(items, { ...work, enter: provider.enter, send })
  }

  async function* stream(
    messages: Messages,
    options: BatchOptions = {},
  ): AsyncGenerator<MessageResult[], void> {
    const batch = run(messages, options)
    const seen: Seen = { done: 0, mayHaveSent: false }
    try {
      for (;;) {
        const { done, value } = await batch.next()
        if (!done) {
          look(seen, value)
          yield value.results
          continue
        }
        if (value.thrown) throw value.thrown.reason
        const left = options.journal && leftBy(value, seen)
        if (left) throw toMailError(left)
        if (value.isUnread) throw endedEarly(value.ended, seen.mayHaveSent)
        return
      }
    } finally {
      await batch.return({})
    }
  }

  return {
    async sendEmails(items, options = {}) {
      const batch = run(items, options)
      const outcomes: CallOutcome[] = []
      const seen: Seen = { done: 0, mayHaveSent: false }
      for (;;) {
        const { done, value } = await batch.next()
        if (!done) {
          outcomes.push(value)
          look(seen, value)
          continue
        }
        const result = toBatchResult(outcomes.flatMap(({ results }) => results))
        const { results } = result
        if (value.thrown) throw withResults(value.thrown.reason, results)
        const left = options.journal && leftBy(value, seen)
        if (left) throw toMailError(left, { results })
        const reason = value.ended ?? outcomes.find(({ unsent }) => unsent)?.unsent
        if (reason && (value.isUnread || !outcomes.some(({ isSettled }) => isSettled)))
          throw endedEarly(reason, seen.mayHaveSent, results)
        return result
      }
    },

    stream,
  }
}

/** What is known of the calls of a batch so far. */
interface Seen {
  /** How many messages the next run has not to send. */
  done: number
  mayHaveSent: boolean
  /** Why a call was not sent that the next run may send. */
  unsent?: IntegrationError
}

function look(seen: Seen, { unsent, results }: CallOutcome): void {
  seen.mayHaveSent ||= results.some(isNotFailed)
  if (!unsent) seen.done += results.filter(({ error }) => !error?.retryable).length
  else if (unsent.retryable) seen.unsent ??= unsent
}

/** The failure of a batch with a journal, if it leaves messages to the next run. */
function leftBy({ ended }: BatchEnd, { unsent, done }: Seen): IntegrationError | undefined {
  const reason = ended?.retryable ? ended : unsent
  if (!reason) return undefined
  const { code, message, provider, retryAfter = 1 } = reason
  const isOurs = code === 'provider_timeout' || code === 'aborted'
  const text = `The batch ended early: ${done} messages are done, and others are left. ${message}`
  const options = { hint: REST, retryAfter, provider, cause: reason }
  return new IntegrationError(isOurs ? 'overloaded' : code, text, options)
}

const isNotFailed = ({ status }: MessageResult) => status !== 'failed'

/** The failure of a batch that ended early. If mails have left, the whole batch must not be sent again. */
function endedEarly(
  error: IntegrationError | undefined,
  mayHaveSent: boolean,
  results?: readonly MessageResult[],
): IntegrationError {
  const reason = toMailError(error, { results })
  if (!mayHaveSent || !(reason instanceof MailError)) return reason
  const { code, message, retryAfter, provider, cause } = reason
  return new MailError(code, `The batch ended early, and mails have left before. ${message}`, {
    hint: results && 'Send the messages whose result is “failed” again: `results` has them.',
    ...{ retryAfter, provider, cause, results, effect: 'unknown', retryable: false },
  })
}

/**
 * Adds the results to what the caller’s own code threw. A property that is not enumerable stays out of logs.
 *
 * @returns the same error; or one of the mailer if the thrown value takes no property
 */
function withResults(reason: unknown, results: readonly MessageResult[]): unknown {
  const isObject = typeof reason === 'object' && reason !== null
  const property = { value: results, enumerable: false, configurable: true, writable: true }
  if (isObject && Reflect.defineProperty(reason, 'results', property)) return reason
  const error = new MailError('aborted', 'The source of the messages failed.', { cause: reason })
  return endedEarly(error, results.some(isNotFailed), results)
}

/** @throws {MailError} `invalid_arguments` if the messages of a batch are neither a list nor a stream */
function checkSource(messages: unknown): void {
  if (isRecord(messages) && (Symbol.iterator in messages || Symbol.asyncIterator in messages)) return
  const message = 'must be a list, an iterable or an async iterable of messages'
  throw invalidOptions([{ path: 'messages', message }])
}
