/**
 * Sends batches and streams: the calls of the provider’s batch endpoint, and what the caller learns of them.
 *
 * @module
 */
import type { CallOptions, Pass, ProviderClient, ProviderRequest } from '@org/core/http'
import { SENDING } from './errors.ts'
import { isRecord } from './fields.ts'
import type { Messages } from './message.ts'
import { callRules, checkOptions, invalidOptions, type Rules } from './options.ts'
import type { BatchResult, MessageResult } from './result.ts'
import type { BatchOptions, Call, HostBatchOptions, MailerSettings } from './run.ts'
import { sendBatch } from './sending.ts'

/** Sends batches. */
export interface BatchSender {
  sendEmails(items: Messages | readonly unknown[], options?: HostBatchOptions): Promise<BatchResult>
  stream(messages: Messages, options?: BatchOptions): AsyncGenerator<MessageResult, void>
}

const batchRules: Rules = {
  ...callRules,
  stop: 'an AbortSignal',
  outageMs: 'a number above 0',
  onProgress: 'a function',
  resend: 'a function',
  journal: 'an object with read and write',
  // Those of the host.
  gate: 'an object',
  parse: 'a function',
}

const BATCH: ProviderRequest = {
  method: 'POST',
  path: '/email/batch',
  change: SENDING,
  // The batch itself repeats calls that were not sent.
  attempts: 1,
}

const LONGEST_OUTAGE_MS = 60_000

/** The answer to a message has 200 bytes, and names its recipients, with up to six bytes for a character. */
const ANSWER = { bytes: 2_000, bytesPerCharacter: 8 }
const SHORTEST_LIMIT = 64 * 1024

/** Makes the batch methods of a mailer. */
export function createBatchSender(provider: ProviderClient, settings: MailerSettings): BatchSender {
  async function send(
    { messages, json: body }: Call,
    limits: CallOptions & { pass: Pass },
  ): Promise<readonly unknown[]> {
    let maxBytes = SHORTEST_LIMIT
    for (const { to, recipients } of messages)
      maxBytes += ANSWER.bytes + [to, ...recipients].join().length * ANSWER.bytesPerCharacter
    const request = { ...BATCH, body, maxBytes }
    // Anything but a list leaves the outcome of the call unknown, and shuts the gate.
    const read = (body: unknown): unknown[] | undefined => (Array.isArray(body) ? body : undefined)
    return (await provider.call(request, read, limits)).value
  }

  function run(items: Messages | readonly unknown[], options: HostBatchOptions, kept?: BatchResult) {
    checkOptions(options, batchRules)
    checkSource(items)
    // A batch may have any length, so only its calls have a time limit by default.
    const limits = provider.within({ timeoutMs: Number.POSITIVE_INFINITY, ...options })
    const { outageMs = LONGEST_OUTAGE_MS } = options
    return sendBatch(
      items,
      { ...options, ...settings, ...limits, outageMs, enter: provider.enter, send },
      kept,
    )
  }

  return {
    async sendEmails(items, options = {}) {
      const result: BatchResult = { sent: 0, failed: 0, unknown: 0, results: [] }
      const calls = run(items, options, result)
      while (!(await calls.next()).done);
      return result
    },

    async *stream(messages, options = {}) {
      for await (const results of run(messages, options)) yield* results
    },
  }
}

/** @throws {MailError} `invalid_arguments` if the messages of a batch are neither a list nor a stream */
function checkSource(messages: unknown): void {
  if (isRecord(messages) && (Symbol.iterator in messages || Symbol.asyncIterator in messages)) return
  const message = 'must be a list, an iterable or an async iterable of messages'
  throw invalidOptions([{ path: 'messages', message }])
}
