/**
 * A claim while the work on it lasts: its lease is renewed, its steps are recorded, and its end is written.
 */
import type { Json } from '../contract/handler-context.ts'
import { IntegrationError } from '../errors.ts'
import type { Logger } from '../log.ts'
import type { ClaimResult, DeliveryStore, RecordedResponse } from './store.ts'
import { createWrites, type WaitUntil } from './writes.ts'

/** In milliseconds. */
export const DEFAULT_LEASE_MS = 30_000
/** Renewals while a lease lasts, so that one failed renewal does not lose it. */
const RENEWALS = 3
/** Final responses and tombstones are kept for seven days. */
const KEEP_MS = 7 * 24 * 60 * 60 * 1000
/** The record of a living deployment, and of what it reserved, is kept until it is deleted: for a century at most. */
export const KEEP_LIVING_MS = 100 * 365 * 24 * 60 * 60 * 1000

/** The steps that core records itself. A handler's step cannot have these names. */
export const reservedSteps = {
  /** A change may have left the host. */
  intent: '@intent',
  /** An operator's settlement of a call whose outcome was unknown. */
  settled: '@settled',
  /** The deployment was deleted. */
  deleted: '@deleted',
  /** When the last event of the deployment happened that was handled, in milliseconds since 1970. */
  happenedAt: '@happenedAt',
  /** The last status of the deployment that the platform learned. */
  status: '@status',
  /** Whether the platform received the outputs of the deployment. If false, it has those of an earlier one of this id. */
  published: '@published',
  /** The fence of the claim that began the deployment. Responses under lower ones are of earlier ones of its id. */
  since: '@since',
} as const

/** How claims are made and kept. */
export interface ClaimOptions {
  logger: Logger
  leaseMs: number
  now: () => number
  waitUntil?: WaitUntil | undefined
  /** Fires when the host shuts down. */
  stopping?: AbortSignal | undefined
  /** Fires when the process ends before its events do. */
  ending?: AbortSignal | undefined
}

/** The right to work on a subject (contract §4), renewed until the work ends. */
export type Claim = ReturnType<typeof startClaim>

/**
 * Renews the lease of a claim until the work ends.
 *
 * @param asked when the store was asked for it
 */
export function startClaim(
  store: DeliveryStore,
  { lease, progress }: Extract<ClaimResult, { state: 'claimed' }>,
  asked: number,
  { logger, leaseMs, now, waitUntil, ending }: ClaimOptions,
) {
  const claimedAt = performance.now()
  const stored = { ...progress }
  const lost = new AbortController()
  const lose = () => lost.abort(takenOver())
  // Counted from before the request to the store, so never later than the store's own time.
  let until = asked + leaseMs
  let hasEnded = false
  const isOver = () => now() >= until
  const write = createWrites({ logger, isOver, waitUntil })
  const timer = setInterval(() => {
    const renewed = now()
    if (isOver()) return lose()
    store.renew(lease, leaseMs).then(
      (kept) => {
        if (kept) until = renewed + leaseMs
        else lose()
      },
      // The lease still runs, and the store may be back before it ends.
      () => {},
    )
  }, leaseMs / RENEWALS)

  /** Otherwise the next delivery waits for the end of the lease, so that what was sent can arrive first. */
  function giveBack(): void {
    if (progress[reservedSteps.intent] === true || Object.values(progress).includes('begun')) return
    clearInterval(timer)
    hasEnded = true
    lose()
    // Not `write`: what waits before it is of no use any more.
    store.release(lease).catch(() => {})
  }
  ending?.addEventListener('abort', giveBack)

  async function record(
    steps: Record<string, Json>,
    by?: number,
    written: typeof steps | Promise<typeof steps> = steps,
  ): Promise<void> {
    Object.assign(progress, steps)
    const kept = await write(async () => {
      Object.assign(stored, await written)
      const kept = await store.advance(lease, await written)
      if (!kept) lose()
      return kept
    }, by)
    if (!kept) throw takenOver()
  }

  /** The response does not wait for the store after `by`: the effect has happened, or certainly has not. */
  async function end(
    what: string,
    apply: () => Promise<boolean>,
    by?: number,
  ): Promise<IntegrationError | undefined> {
    clearInterval(timer)
    ending?.removeEventListener('abort', giveBack)
    hasEnded = true
    let isUnanswered = false
    async function tryOnce(): Promise<boolean> {
      try {
        // Nobody else can have claimed the subject yet, so an attempt without an answer has ended the claim.
        if ((await apply()) || (isUnanswered && !isOver())) return true
      } catch (error) {
        isUnanswered = true
        throw error
      }
      logger('warn', `The ${what} was not recorded: the claim was lost.`, { ...lease })
      return false
    }
    try {
      return (await write(tryOnce, by)) ? undefined : takenOver()
    } catch (error) {
      if (!(error instanceof IntegrationError)) throw error
      logger('error', `The ${what} was not recorded in time.`, { ...lease })
      return error
    }
  }

  return {
    lease,
    /** When the store gave the claim, by `performance.now`. */
    claimedAt,
    /** The steps: those of earlier claims, and its own, whether the store has them already or not. */
    progress,
    /** The steps as the store has them. */
    stored,
    /** Aborts when the lease is lost; nothing may be written after that. */
    lost: lost.signal,
    /**
     * Call right before sending. Detects an expired lease by the local clock, for example after SIGSTOP, and work
     * that its handler did not wait for.
     *
     * @throws {IntegrationError} `delivery_in_progress` if the lease or the work is over
     */
    ensureClaimed(): void {
      if (hasEnded || isOver()) lose()
      if (lost.signal.aborted) throw takenOver()
    },
    /**
     * Records a step.
     *
     * @param by when the event goes on without the store's answer, in milliseconds since 1970; the step is recorded
     * in the background then
     * @param stored what the store keeps instead of the value
     * @throws {IntegrationError} `overloaded` after `by`, `delivery_in_progress` if the claim was lost
     */
    advance: (name: string, value: Json, by?: number, stored?: Promise<Json>) =>
      record(
        { [name]: value },
        by,
        stored?.then((encrypted) => ({ [name]: encrypted })),
      ),
    /** Replaces every step, because a new deployment begins under this id. */
    async reset(steps: Record<string, Json>): Promise<void> {
      await record({ ...Object.fromEntries(Object.keys(progress).map((name) => [name, null])), ...steps })
    },
    /**
     * Ends the work.
     *
     * @returns why the response is not recorded, or not yet; `undefined` if it is
     */
    complete(
      response: RecordedResponse,
      options: { progress?: Record<string, Json>; isLiving?: boolean; by?: number | undefined } = {},
    ) {
      const keepMs = options.isLiving ? KEEP_LIVING_MS : KEEP_MS
      const completion = { response, progress: options.progress ?? progress, keepMs, keepResponseMs: KEEP_MS }
      return end('response', () => store.complete(lease, completion), options.by)
    },
    /**
     * Gives the claim back; `undone` if the recorded intent certainly had no effect. After a loss of the claim nothing is
     * certain: the loss itself may have ended a call that had left.
     */
    async release(intent: 'undone' | 'unknown'): Promise<void> {
      const isUndone = intent === 'undone' && progress[reservedSteps.intent] === true && !lost.signal.aborted
      if (isUndone) void record({ [reservedSteps.intent]: null }).catch(() => {})
      await end('release', () => store.release(lease))
    },
  }
}

function takenOver(): IntegrationError {
  const message = 'The lease of this delivery is over: another delivery may have taken it over.'
  return new IntegrationError('delivery_in_progress', message, { retryAfter: 1 })
}
