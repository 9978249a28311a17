/**
 * Makes one call of a batch: its turn, its records, its attempts, and what its answer means for each message.
 *
 * @module
 */
import type { IntegrationError } from '@org/core/errors'
import type { Pass } from '@org/core/http'
import { failedResult, inOrder, toResult } from './batch.ts'
import { type Ending, timeIsOver } from './ending.ts'
import { type MessageRecord, type Records, toRecords } from './journal.ts'
import { toMailError } from './mail-error.ts'
import { matchResponses, unreadable } from './matching.ts'
import type { Pace } from './pace.ts'
import type { MessageResult } from './result.ts'
import type { BatchRunOptions, Call, CallOutcome } from './run.ts'

/** With a journal, no call begins in the last quarter of the time (5 s at most), so that its results can be recorded. */
const RESERVE_SHARE = 0.25
const LONGEST_RESERVE_MS = 5_000
/** The messages fail if the provider asks to wait, and accepts no call for so long. */
const LONGEST_RATE_LIMIT_MS = 5 * 60_000

/** Makes the function that makes the calls of one batch. */
export function createCaller(
  options: BatchRunOptions,
  { pace, ending, records }: { pace: Pace; ending: Ending; records: Records | undefined },
) {
  const { enter, gate, outageMs, send, timeoutMs, signal, deadline } = options
  const reserveMs = records ? Math.min(LONGEST_RESERVE_MS, (deadline - Date.now()) * RESERVE_SHARE) : 0
  /** Why the journal takes no more records. */
  let unrecorded: IntegrationError | undefined
  /** When a call broke, if none was answered since. */
  let brokenAt: number | undefined

  const isTooLate = (delayMs = 0) => Date.now() + delayMs + Math.max(reserveMs, pace.expectedMs()) >= deadline
  /** When the batch ends unless a call is answered, if calls have broken. */
  const outageEnd = () => (brokenAt === undefined ? Number.POSITIVE_INFINITY : brokenAt + outageMs)

  /** Why no call may begin any more. */
  function obstacle(): IntegrationError | undefined {
    return ending.reason ?? unrecorded ?? (isTooLate() ? timeIsOver() : undefined)
  }

  async function record(written: ReadonlyMap<string, MessageRecord | undefined>): Promise<void> {
    try {
      await records?.write(written)
    } catch (error) {
      unrecorded ??= toMailError(error)
    }
  }
  const recordAll = ({ messages }: Call, value: 'begun' | undefined) =>
    record(new Map(messages.map(({ key }) => [key, value])))

  async function waitForGate(milliseconds: number): Promise<boolean> {
    const leftMs = Math.min(outageMs - pace.pausedMs(), outageEnd() - Date.now())
    if (obstacle() || leftMs <= 0) return false
    const pauseMs = pace.pauseOf(milliseconds)
    await pace.pauseFor(Math.min(pauseMs, leftMs))
    return pauseMs < leftMs && !obstacle()
  }

  /** One attempt, between its first and its last record. */
  async function attempt(call: Call): Promise<CallOutcome> {
    const before = obstacle()
    if (before) return unsentCall(call, before)
    let pass: Pass
    try {
      const until = Math.min(deadline, outageEnd())
      pass = await enter({ signal: ending.signal, deadline: until, gate }, waitForGate)
    } catch (error) {
      return unsentCall(call, obstacle() ?? toMailError(error))
    }
    if (records) await recordAll(call, 'begun')
    // Recording and the gate may have taken long.
    const after = obstacle()
    const outcome = after ? unsentCall(call, after) : await exchange(call, pass)
    pass.leave(outcome.unsent ? 'unmade' : isBroken(outcome) ? 'unknown' : 'made')
    if (records) {
      if (outcome.unsent) await recordAll(call, undefined)
      else await record(toRecords(outcome.results, call.messages))
    }
    return outcome
  }

  async function exchange(call: Call, pass: Pass): Promise<CallOutcome> {
    try {
      const until = Math.min(deadline, Date.now() + timeoutMs)
      const body = await send(call, { signal, deadline: until, pass })
      return { results: readResults(body, call), isSettled: true }
    } catch (thrown) {
      const error = toMailError(thrown)
      if (error.effect === 'none') return unsentCall(call, error)
      return { results: failAll(call, error), isSettled: true }
    }
  }

  /** Milliseconds to wait before a call that was not sent is tried again; `undefined` if it is not. */
  function delayOf(reason: IntegrationError): number | undefined {
    if (!isAway(reason) || obstacle()) return undefined
    const delayMs = pace.pauseOf((reason.retryAfter ?? 0) * 1_000)
    const longestMs = reason.code === 'provider_rate_limited' ? LONGEST_RATE_LIMIT_MS : outageMs
    if (isTooLate(delayMs) || Date.now() + delayMs >= outageEnd()) return undefined
    return pace.pausedMs() + delayMs > longestMs ? undefined : delayMs
  }

  return async function make(call: Call): Promise<CallOutcome> {
    if (call.messages.length === 0) return { results: call.settled, isSettled: call.isResumed }
    // A time in which there was nothing to send is no outage.
    if (pace.isIdle() && Date.now() >= outageEnd()) brokenAt = undefined
    for (;;) {
      const turn = await pace.enter(call.bytes)
      const outcome = await attempt(call)
      const { unsent } = outcome
      const delayMs = unsent && delayOf(unsent)
      if (delayMs !== undefined) void pace.pauseFor(delayMs)
      // No later call fares better.
      else if (unsent && (isAway(unsent) || unsent.code === 'credentials_rejected')) ending.end(unsent)
      if (!unsent) brokenAt = isBroken(outcome) ? (brokenAt ?? Date.now()) : undefined
      pace.leave(turn, unsent ? 'not sent' : isBroken(outcome) ? 'broken' : 'answered')
      if (delayMs === undefined)
        return { ...outcome, results: inOrder([...outcome.results, ...call.settled]) }
    }
  }
}

/** Whether the provider takes no call for now: it can’t be reached, is down for maintenance, or asks to wait. */
function isAway({ code, provider }: IntegrationError): boolean {
  return code === 'provider_rate_limited' || (code === 'provider_error' && (provider?.status ?? 503) >= 500)
}

function isBroken({ results }: CallOutcome): boolean {
  return results.some(({ status }) => status === 'unknown')
}

function unsentCall(call: Call, reason: IntegrationError): CallOutcome {
  return { unsent: reason, isSettled: false, results: failAll(call, reason) }
}

function failAll({ messages }: Call, error: IntegrationError): MessageResult[] {
  return messages.map((message) => failedResult(message, error))
}

function readResults(body: unknown, { messages }: Call): MessageResult[] {
  const responses = matchResponses(body, messages)
  return messages.map((message, at) => {
    const response = responses[at]
    return response ? toResult(message, response) : failedResult(message, unreadable())
  })
}
