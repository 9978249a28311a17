/**
 * The batch methods of a mailer.
 *
 * @module
 */
import type { ProviderClient } from '@org/core/http'
import { isRecord } from './fields.ts'
import type { Messages } from './message.ts'
import { callRules, checkOptions, invalidOptions, type Rules } from './options.ts'
import type { BatchResult } from './result.ts'
import type { BatchOptions, HostBatchOptions, MailerSettings } from './run.ts'
import { sendBatch } from './sending.ts'

/** The batch methods of a mailer. */
export type BatchSender = ReturnType<typeof createBatchSender>

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
  rest: 'an object',
}

const LONGEST_OUTAGE_MS = 60_000
/** The limits of the provider. */
const CALL_BYTES = 50_000_000

/** Makes the batch methods of a mailer. */
export function createBatchSender(provider: ProviderClient, settings: MailerSettings) {
  function run(items: Messages | readonly unknown[], options: HostBatchOptions, kept?: BatchResult) {
    checkOptions(options, batchRules)
    if (!isRecord(items) || !(Symbol.iterator in items || Symbol.asyncIterator in items)) {
      const message = 'must be a list, an iterable or an async iterable of messages'
      throw invalidOptions([{ path: 'messages', message }])
    }
    // A batch may have any length, so only its calls have a time limit by default.
    const limits = provider.within({ timeoutMs: Number.POSITIVE_INFINITY, ...options })
    const { outageMs = LONGEST_OUTAGE_MS } = options
    const { callBytes = CALL_BYTES } = settings
    return sendBatch(items, { ...options, ...settings, ...limits, outageMs, callBytes, provider }, kept)
  }

  return {
    async sendEmails(items: Messages | readonly unknown[], options: HostBatchOptions = {}) {
      const result: BatchResult = { sent: 0, failed: 0, unknown: 0, results: [] }
      const calls = run(items, options, result)
      while (!(await calls.next()).done);
      return result
    },

    async *stream(messages: Messages, options: BatchOptions = {}) {
      for await (const results of run(messages, options)) yield* results
    },
  }
}
