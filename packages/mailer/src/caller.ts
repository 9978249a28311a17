/**
 * Makes one call of a batch: its turn, its records, its attempts, and what its answer means for each message.
 *
 * @module
 */
import type { IntegrationError } from '@org/core/errors'
import { type Pass, type ProviderRequest, unknownOutcome } from '@org/core/http'
import { failedResult, inOrder, toResult } from './batch.ts'
import { type Ending, timeIsOver } from './ending.ts'
import { SENDING } from './errors.ts'
import { type MessageRecord, type Records, toRecords } from './journal.ts'
import { toMailError } from './mail-error.ts'
import type { Pace } from './pace.ts'
import type { MessageResult } from './result.ts'
import type { BatchRun, Call, CallOutcome } from './run.ts'
import { isAbout, readSendResponse } from './wire.ts'

/** With a journal, no call begins in the last quarter of the time (5 s at most), so that its results can be recorded. */
const RESERVE_SHARE = 0.25
const LONGEST_RESERVE_MS = 5_000
/** The messages fail if the provider asks to wait, and accepts no call for so long. */
const LONGEST_RATE_LIMIT_MS = 5 * 60_000

const BATCH: ProviderRequest = {
  method: 'POST',
  path: '/email/batch',
  change: SENDING,
  // The batch itself repeats calls that were not sent.
  attempts: 1,
}
/** The answer to a message has 200 bytes, and names its recipients, with up to six bytes for a character. */
const ANSWER = { shortest: 64 * 1024, bytes: 2_000, bytesPerCharacter: 8 }

/** Makes the function that makes the calls of one batch. */
export function createCaller(
  run: BatchRun,
  { pace, ending, records }: { pace: Pace; ending: Ending; records: Records | undefined },
) {
  const { provider, gate, outageMs, timeoutMs, signal, deadline } = run
  const reserveMs = records ? Math.min(LONGEST_RESERVE_MS, (deadline - Date.now()) * RESERVE_SHARE) : 0
  const isTooLate = (delayMs = 0) => Date.now() + delayMs + Math.max(reserveMs, pace.expectedMs()) >= deadline

  /** Why no call may begin any more. */
  function obstacle(): IntegrationError | undefined {
    return ending.reason ?? (isTooLate() ? timeIsOver() : undefined)
  }

  const record = async (written: ReadonlyMap<string, MessageRecord | undefined>) => {
    // If the journal fails, it ends the batch.
    await records?.write(written).catch(() => {})
  }
  const recordAll = ({ messages }: Call, value: 'begun' | undefined) =>
    record(new Map(messages.map(({ key }) => [key, value])))

  async function waitForGate(milliseconds: number): Promise<boolean> {
    const leftMs = outageMs - pace.troubleMs()
    if (obstacle() || leftMs <= 0) return false
    const pauseMs = pace.pauseOf(milliseconds)
    await pace.pauseFor(Math.min(pauseMs, leftMs))
    return pauseMs < leftMs && !obstacle()
  }

  /** One attempt, between its first and its last record. */
  async function attempt(call: Call): Promise<CallOutcome> {
    let pass: Pass
    try {
      const before = obstacle()
      if (before) throw before
      const until = Math.min(deadline, Date.now() + outageMs - pace.troubleMs())
      pass = await provider.enter({ signal: ending.signal, deadline: until, gate }, waitForGate)
    } catch (error) {
      return unsentCall(call, obstacle() ?? toMailError(error))
    }
    if (records) await recordAll(call, 'begun')
    // Recording and the gate may have taken long.
    const after = obstacle()
    const outcome = after ? unsentCall(call, after) : await exchange(call, pass)
    pass.leave(outcome.unsent ? 'unmade' : isBroken(outcome) ? 'unknown' : 'made')
    if (outcome.unsent) await recordAll(call, undefined)
    else if (records) await record(toRecords(outcome.results, call.messages))
    return outcome
  }

  async function exchange(call: Call, pass: Pass): Promise<CallOutcome> {
    try {
      const until = Math.min(deadline, Date.now() + timeoutMs)
      const request = { ...BATCH, body: call.json, maxBytes: longestAnswer(call) }
      // Anything but a list leaves the outcome of the call unknown, and shuts the gate.
      const read = (body: unknown): unknown[] | undefined => (Array.isArray(body) ? body : undefined)
      const value = await provider.call(request, read, { signal, deadline: until, pass })
      return { results: readResults(value, call) }
    } catch (thrown) {
      const error = toMailError(thrown)
      return error.effect === 'none' ? unsentCall(call, error) : { results: failAll(call, error) }
    }
  }

  /** Milliseconds to wait before a call that was not sent is tried again; `undefined` if it is not. */
  function delayOf(reason: IntegrationError): number | undefined {
    const delayMs = pace.pauseOf((reason.retryAfter ?? 0) * 1_000)
    const longestMs = reason.code === 'provider_rate_limited' ? LONGEST_RATE_LIMIT_MS : outageMs
    const isOver = obstacle() || isTooLate(delayMs) || pace.troubleMs() + delayMs > longestMs
    return isOver || !isAway(reason) ? undefined : delayMs
  }

  return async function make(call: Call): Promise<CallOutcome> {
    if (call.messages.length === 0) return { results: call.settled }
    for (;;) {
      const turn = await pace.enter()
      const outcome = await attempt(call)
      const { unsent } = outcome
      const delayMs = unsent && delayOf(unsent)
      if (delayMs !== undefined) void pace.pauseFor(delayMs)
      // No later call fares better, unless the provider refused only this one.
      else if (unsent && unsent.code !== 'provider_rejected') ending.end(unsent)
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

function longestAnswer({ messages }: Call): number {
  const texts = messages.flatMap(({ to, recipients }) => [to, ...recipients])
  return ANSWER.shortest + messages.length * ANSWER.bytes + texts.join().length * ANSWER.bytesPerCharacter
}

function isBroken({ results }: CallOutcome): boolean {
  return results.some(({ status }) => status === 'unknown')
}

function unsentCall(call: Call, reason: IntegrationError): CallOutcome {
  return { unsent: reason, results: failAll(call, reason) }
}

function failAll({ messages }: Call, error: IntegrationError): MessageResult[] {
  return messages.map((message) => failedResult(message, error))
}

function readResults(answers: readonly unknown[], call: Call): MessageResult[] {
  const { messages } = call
  const responses = answers.length === messages.length ? answers.map(readSendResponse) : []
  // The provider answers in the order of the messages. If an answer contradicts that, none is surely about its message.
  const isInOrder = messages.every((message, at) => {
    const response = responses[at]
    return !response?.accepted || isAbout(response, message)
  })
  const text = 'It is not known whether the mail was sent: the provider’s answer is unreadable.'
  return messages.map((message, at) => {
    const response = isInOrder ? responses[at] : undefined
    return response ? toResult(message, response) : failedResult(message, unknownOutcome(text))
  })
}
