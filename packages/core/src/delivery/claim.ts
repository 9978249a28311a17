/**
 * Working under a claim: ask for it, keep it alive, and end it with an answer or give it back (contract §4).
 *
 * @module
 */
import type { ClaimRequest, ClaimResult, DeliveryStore, Json, Lease, RecordedAnswer } from './store.ts'
import { IntegrationError } from '../errors.ts'
import type { Logger } from '../log.ts'

/** How long a claim lasts without a sign of life, in milliseconds. */
export const DEFAULT_LEASE_MS = 60_000
/** A lease is renewed so often while it lasts: one that can't be renewed for a moment is not lost. */
const RENEWALS = 3
/** How long to wait before the end of the work is written down again, in milliseconds. */
const END_AGAIN_MS = 1_000
/** Final answers and tombstones are kept for seven days. */
const KEEP_MS = 7 * 24 * 60 * 60 * 1000

/** How claims are made and kept. */
export interface ClaimOptions {
  logger: Logger
  /** Milliseconds. */
  leaseMs: number
  /** The time in milliseconds since 1970. */
  now: () => number
}

/** A claim under which work goes on. */
export interface Claim {
  readonly lease: Lease
  /** An earlier holder vanished in the middle of its work. */
  readonly takenOver: boolean
  /** What is recorded of the subject. */
  readonly progress: Readonly<Record<string, Json>>
  /** Fires when the lease is lost; nothing may be written after that. */
  readonly lost: AbortSignal
  /**
   * For right before something leaves: a process that was stopped for a while has not been told yet that it
   * lost its claim, but it can see it by its own clock.
   *
   * @throws {IntegrationError} `delivery_in_progress` where the lease is over
   */
  ensureHeld(): void
  /** Records a step. */
  advance(name: string, value: Json): Promise<void>
  /**
   * Ends the work.
   *
   * @returns why the answer is not recorded; `undefined` where it is
   */
  complete(answer: RecordedAnswer, progress?: Record<string, Json>): Promise<IntegrationError | undefined>
  /**
   * Gives the claim back.
   *
   * @param intent what became of the change that {@link recordIntent} wrote down
   */
  release(intent: 'undone' | 'unknown'): Promise<void>
}

/**
 * Takes a resource for one owner; the record of it outlives the work by as long as an answer.
 *
 * @returns whether it is the owner's, now or from before
 * @throws {IntegrationError} where that can't be told: another asks for it right now, or one that asked died
 */
export async function reserve(
  store: DeliveryStore,
  { resource, owner }: { resource: string; owner: string },
  options: ClaimOptions,
): Promise<boolean> {
  const outcome = await askStore(store, { subject: resource }, options)
  if (outcome.state !== 'claimed') throw inProgress(1)
  const { lease, progress } = outcome
  const mine = progress.owner === undefined || progress.owner === owner
  const completion = {
    answer: { status: 200, body: '' },
    progress: mine ? { owner } : progress,
    keepMs: KEEP_MS,
  }
  const kept = await store.complete(lease, completion).catch((cause: unknown) => {
    throw logged(unreachable(cause), options.logger)
  })
  if (!kept) throw inProgress(1)
  return mine
}

/** What came of asking: the claim, or the answer that was given before. */
export type ClaimOutcome = { claim: Claim } | { replay: RecordedAnswer }

/**
 * Asks for the right to work on a subject.
 *
 * @throws {IntegrationError} `delivery_in_progress` where another works on it, `invalid_event` (422) where the
 * delivery's id was used with another body, `overloaded` where the store can't be reached
 */
export async function claimSubject(
  store: DeliveryStore,
  request: Omit<ClaimRequest, 'leaseMs'>,
  options: ClaimOptions,
): Promise<ClaimOutcome> {
  const asked = options.now()
  const result = await askStore(store, request, options)
  switch (result.state) {
    case 'claimed':
      return { claim: keepAlive(store, result, asked, options) }
    case 'done':
      return { replay: result.answer }
    case 'busy':
      throw inProgress(Math.min(5, Math.max(1, Math.ceil(result.retryAfterMs / 1000))))
    case 'mismatch':
      throw new IntegrationError('invalid_event', 'This delivery id was used before, with another body.', {
        status: 422,
        hint: 'Every event needs an id of its own; a redelivery repeats both the id and the body.',
      })
  }
}

async function askStore(
  store: DeliveryStore,
  request: Omit<ClaimRequest, 'leaseMs'>,
  { leaseMs, logger }: ClaimOptions,
): Promise<ClaimResult> {
  try {
    return await store.claim({ ...request, leaseMs })
  } catch (cause) {
    throw logged(unreachable(cause), logger)
  }
}

function inProgress(retryAfter: number): IntegrationError {
  return new IntegrationError('delivery_in_progress', 'This is being worked on by another delivery.', {
    retryAfter,
  })
}

function logged(failure: IntegrationError, logger: Logger): IntegrationError {
  logger('error', 'The delivery store can’t be reached.', { reason: reasonOf(failure.cause) })
  return failure
}

function unreachable(cause: unknown): IntegrationError {
  return new IntegrationError(
    'overloaded',
    'The delivery store can’t be reached, and without it this could happen twice.',
    { retryAfter: 5, cause },
  )
}

function keepAlive(
  store: DeliveryStore,
  { lease, takenOver, progress }: Extract<ClaimResult, { state: 'claimed' }>,
  asked: number,
  { logger, leaseMs, now }: ClaimOptions,
): Claim {
  const lost = new AbortController()
  // What is ended by it says why, and not that something went wrong.
  const lose = () => lost.abort(takenOverByAnother())
  // Counted from before the store was asked, so it is never later than what the store goes by.
  let until = asked + leaseMs
  const timer = setInterval(() => {
    const renewed = now()
    if (renewed >= until) return lose()
    store.renew(lease, leaseMs).then(
      (kept) => {
        if (kept) until = renewed + leaseMs
        else lose()
      },
      // The lease still runs, and the store may be back before it ends.
      () => {},
    )
  }, leaseMs / RENEWALS)

  function ensureHeld(): void {
    if (now() >= until) lose()
    if (lost.signal.aborted) throw takenOverByAnother()
  }

  async function end(what: string, write: () => Promise<boolean>): Promise<IntegrationError | undefined> {
    clearInterval(timer)
    async function tryOnce(): Promise<IntegrationError | undefined> {
      try {
        if (await write()) return undefined
        logger('warn', `The ${what} was not recorded: the claim had been lost.`, { ...lease })
        return takenOverByAnother()
      } catch (cause) {
        return unreachable(cause)
      }
    }
    const failure = await tryOnce()
    if (failure?.code !== 'overloaded') return failure
    // The effect has happened, or certainly has not: what can be said of it does not wait for the store.
    logger('error', `The ${what} was not recorded.`, { ...lease, reason: reasonOf(failure.cause) })
    const again = setInterval(async () => {
      if (now() >= until || (await tryOnce())?.code !== 'overloaded') clearInterval(again)
    }, END_AGAIN_MS)
    // Not a reason for a process to stay: then the lease runs out by itself.
    again.unref?.()
    return failure
  }

  return {
    lease,
    takenOver,
    progress,
    lost: lost.signal,
    ensureHeld,
    async advance(name, value) {
      progress[name] = value
      const kept = await store.advance(lease, { [name]: value }).catch((cause: unknown) => {
        throw logged(unreachable(cause), logger)
      })
      if (kept) return
      lose()
      throw takenOverByAnother()
    },
    complete: (answer, latest = progress) =>
      end('answer', () => store.complete(lease, { answer, progress: latest, keepMs: KEEP_MS })),
    async release(intent) {
      await end('release', async () => {
        if (intent === 'undone' && progress.intent === true) {
          if (!(await store.advance(lease, { intent: null }))) return false
        }
        return store.release(lease)
      })
    },
  }
}

function takenOverByAnother(): IntegrationError {
  return new IntegrationError('delivery_in_progress', 'Another delivery has taken this over.', {
    retryAfter: 1,
  })
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : 'unknown'
}
