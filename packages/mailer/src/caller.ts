/**
 * Makes one call of a batch: its turn, its records, its attempts, and what its answer means for each message.
 *
 * @module
 */
import type { IntegrationError } from '@org/core/errors'
import type { Pass } from '@org/core/http'
import { failedResult, inOrder, toResult } from './batch.ts'
import type { Call } from './calls.ts'
import { type Ending, timeIsOver } from './ending.ts'
import type { Flow } from './flow.ts'
import { type MessageRecord, toRecords } from './journal.ts'
import { toMailError } from './mail-error.ts'
import { matchResponses, unreadable } from './matching.ts'
import type { Records } from './records.ts'
import type { MessageResult } from './result.ts'
import type { BatchRunOptions, CallOutcome } from './run.ts'

/** With a journal, no call begins in the last quarter of the time (5 s at most), so that its results can be recorded. */
const RESERVE_SHARE = 0.25
const LONGEST_RESERVE_MS = 5_000
const FIRST_BACKOFF_MS = 200
const LONGEST_BACKOFF_MS = 10_000
/** The messages fail if the provider asks to wait, and accepts no call for so long. */
const LONGEST_STANDSTILL_MS = 5 * 60_000

/** Makes the function that makes the calls of one batch. */
export function createCaller(
  options: BatchRunOptions,
  { flow, ending, records }: { flow: Flow; ending: Ending; records: Records | undefined },
) {
  const { enter, gate, outageMs, send, wait, timeoutMs, signal, deadline } = options
  const reserve = records ? Math.min(LONGEST_RESERVE_MS, (deadline - Date.now()) * RESERVE_SHARE) : 0
  let unrecorded: IntegrationError | undefined

  /** Why no call may begin any more. */
  function obstacle(): IntegrationError | undefined {
    if (ending.reason ?? unrecorded) return ending.reason ?? unrecorded
    const isTooLate = Date.now() + Math.max(reserve, flow.expectedMs()) >= deadline
    return isTooLate ? timeIsOver() : undefined
  }

  async function record(
    written: ReadonlyMap<string, MessageRecord | undefined>,
    durationMs?: number,
  ): Promise<void> {
    try {
      await records?.write(written, durationMs)
    } catch (error) {
      unrecorded ??= toMailError(error)
    }
  }
  const recordAll = ({ messages }: Call, value: 'begun' | undefined) =>
    record(new Map(messages.map(({ key }) => [key, value])))

  /** The provider has answered no read for so long, in milliseconds. */
  let shutMs = 0
  /** When a call broke, if none has succeeded since. */
  let brokenAt: number | undefined
  const isOutageOver = () => shutMs >= outageMs || Date.now() - (brokenAt ?? Date.now()) >= outageMs
  let waiting: Promise<boolean> | undefined
  /** All calls wait together: each minute counts once. */
  function waitWhileShut(milliseconds: number): Promise<boolean> {
    waiting ??= waitOnce(milliseconds).finally(() => {
      waiting = undefined
    })
    return waiting
  }
  async function waitOnce(milliseconds: number): Promise<boolean> {
    if (obstacle() || isOutageOver()) return false
    // A longer pause with each, and at least the one that is asked for.
    const waitMs = Math.max(milliseconds, Math.min(shutMs, LONGEST_BACKOFF_MS, outageMs - shutMs))
    shutMs += waitMs
    await wait(waitMs, ending.signal)
    return !obstacle()
  }

  /** One attempt, between its first and its last record. */
  async function attempt(call: Call): Promise<CallOutcome> {
    const before = obstacle()
    if (before) return unsent(call, before)
    let pass: Pass
    try {
      pass = await enter({ signal: ending.signal, deadline, gate }, waitWhileShut)
    } catch (error) {
      const reason = obstacle() ?? toMailError(error)
      // No later call fares better, and each would wait as long.
      if (isOutageOver()) ending.end(reason)
      return unsent(call, reason)
    }
    if (records) await recordAll(call, 'begun')
    // Recording and the gate may have taken long.
    const after = obstacle()
    if (after) {
      pass.leave('unmade')
      if (records) await recordAll(call, undefined)
      return unsent(call, after)
    }
    const began = Date.now()
    const outcome = await exchange(call, pass)
    if (records) {
      if (outcome.kind === 'unsent') await recordAll(call, undefined)
      else await record(toRecords(outcome.results, call.messages), Date.now() - began)
    }
    return outcome
  }

  async function exchange(call: Call, pass: Pass): Promise<CallOutcome> {
    try {
      const until = Math.min(deadline, Date.now() + timeoutMs)
      const results = readResults(await send(call, { signal, deadline: until, pass }), call)
      pass.leave(results.some(isUnknown) ? 'unknown' : 'made')
      return { kind: 'settled', results }
    } catch (thrown) {
      const error = toMailError(thrown)
      pass.leave(error.effect === 'unknown' ? 'unknown' : 'unmade')
      const results = call.messages.map((message) => failedResult(message, error))
      return error.effect === 'none'
        ? { kind: 'unsent', results, reason: error }
        : { kind: 'settled', results }
    }
  }

  /** Milliseconds to wait before a call that was not sent is tried again; `undefined` if it is not. */
  function delayOf(reason: IntegrationError, attempts: number): number | undefined {
    const { code, retryAfter } = reason
    const backoff = Math.random() * Math.min(LONGEST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** attempts)
    const delay = flow.pauseOf(retryAfter === undefined ? backoff : retryAfter * 1000)
    if (Date.now() + delay + Math.max(reserve, flow.expectedMs()) >= deadline) return undefined
    const longest = code === 'provider_rate_limited' ? LONGEST_STANDSTILL_MS : outageMs
    return isAway(reason) && flow.standstillMs() + delay <= longest ? delay : undefined
  }

  return async function make(call: Call): Promise<CallOutcome> {
    const { messages, settled, isResumed } = call
    if (messages.length === 0) return { kind: isResumed ? 'settled' : 'empty', results: settled }
    for (let attempts = 1; ; attempts += 1) {
      const turn = await flow.enter(call.bytes)
      const outcome = await attempt(call)
      const delay =
        outcome.kind === 'unsent' && outcome.reason.retryable && !obstacle()
          ? delayOf(outcome.reason, attempts)
          : undefined
      if (delay !== undefined) flow.pauseFor(delay)
      // No later call fares better.
      else if (
        outcome.kind === 'unsent' &&
        (isAway(outcome.reason) || outcome.reason.code === 'credentials_rejected')
      )
        ending.end(outcome.reason)
      const isBroken = outcome.results.some(isUnknown)
      if (outcome.kind === 'settled') shutMs = 0
      if (outcome.kind === 'settled') brokenAt = isBroken ? (brokenAt ?? Date.now()) : undefined
      flow.leave(turn, outcome.kind === 'unsent' ? 'not sent' : isBroken ? 'broken' : 'answered')
      if (delay !== undefined) continue
      return {
        ...outcome,
        results: settled.length === 0 ? outcome.results : inOrder([...outcome.results, ...settled]),
      }
    }
  }
}

/** Whether the provider takes no call for now: it can’t be reached, is down for maintenance, or asks to wait. */
function isAway({ code, provider }: IntegrationError): boolean {
  return code === 'provider_rate_limited' || (code === 'provider_error' && (provider?.status ?? 503) >= 500)
}

function isUnknown({ status }: MessageResult): boolean {
  return status === 'unknown'
}

function unsent({ messages }: Call, reason: IntegrationError): CallOutcome {
  return { kind: 'unsent', reason, results: messages.map((message) => failedResult(message, reason)) }
}

function readResults(body: unknown, { messages }: Call): MessageResult[] {
  const responses = matchResponses(body, messages)
  return messages.map((message, at) => {
    const response = responses?.[at]
    return response ? toResult(message, response) : failedResult(message, unreadable())
  })
}
