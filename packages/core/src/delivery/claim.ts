/**
 * Work under a claim: ask for it, keep it alive, and end it with a response or give it back (contract §4).
 *
 * @module
 */
import type { Json } from '../contract/handler-context.ts'
import { IntegrationError } from '../errors.ts'
import type { Logger } from '../log.ts'
import type {
  ClaimRequest,
  ClaimResult,
  DeliveryStore,
  Lease,
  RecordedResponse,
  SubjectRecord,
} from './store.ts'

/** In milliseconds. */
export const DEFAULT_LEASE_MS = 60_000
/** Renewals while a lease lasts, so that one failed renewal does not lose it. */
const RENEWALS = 3
/** The wait before a failed completion or release is written again, in milliseconds. */
const RETRY_END_MS = 1_000
/** Final responses and tombstones are kept for seven days. */
const KEEP_MS = 7 * 24 * 60 * 60 * 1000

/** Core's own steps. A handler's step cannot have these names. */
export const ownSteps = {
  /** A change may have left the host. */
  intent: '@intent',
  /** The deployment was deleted. */
  deleted: '@deleted',
  /** When the last event of the deployment happened that was handled, in milliseconds since 1970. */
  happenedAt: '@happenedAt',
  /** The last status of the deployment that the platform learned. */
  status: '@status',
  /** Whether the platform received the outputs of the deployment. If false, it has those of an earlier one of this id. */
  published: '@published',
  /** The deliveries that earlier deployments of this id answered. */
  earlier: '@earlier',
} as const

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
  /** When the store gave the claim, by `performance.now`. */
  readonly claimedAt: number
  /** Whether an earlier holder vanished in the middle of its work. */
  readonly takenOver: boolean
  /** The recorded steps. */
  readonly progress: Readonly<Record<string, Json>>
  /** Aborts when the lease is lost; nothing may be written after that. */
  readonly lost: AbortSignal
  /**
   * Call right before sending. Detects an expired lease by the local clock, for example after SIGSTOP.
   *
   * @throws {IntegrationError} `delivery_in_progress` if the lease is over
   */
  ensureHeld(): void
  /** Records a step. */
  advance(name: string, value: Json): Promise<void>
  /** Replaces every step, because a new deployment begins under this id. */
  reset(steps: Record<string, Json>): Promise<void>
  /**
   * Ends the work.
   *
   * @returns why the response is not recorded; `undefined` if it is
   */
  complete(response: RecordedResponse, progress?: Record<string, Json>): Promise<IntegrationError | undefined>
  /**
   * Gives the claim back.
   *
   * @param intent `undone` if the recorded intent certainly had no effect
   */
  release(intent: 'undone' | 'unknown'): Promise<void>
}

/** The result of asking: a claim, or the recorded response. */
export type ClaimOutcome = { claim: Claim } | { replay: RecordedResponse }

/**
 * Asks for the right to work on a subject.
 *
 * @throws {IntegrationError} `delivery_in_progress` if another delivery works on it, `invalid_event` (422) if the
 * delivery's id was used with another body, `overloaded` if the store is unreachable
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
      return { replay: result.response }
    case 'busy':
      throw inProgress(Math.min(5, Math.max(1, Math.ceil(result.retryAfterMs / 1000))))
    case 'mismatch':
      throw new IntegrationError('invalid_event', 'This delivery id was used before, with another body.', {
        status: 422,
        hint: 'Give every event its own id; a redelivery repeats both the id and the body.',
      })
  }
}

/**
 * Reserves a resource for one owner. The record outlives the work by as long as a response.
 *
 * @returns whether the owner has it, now or from before
 * @throws {IntegrationError} if another delivery reserves it right now, or one died while it did
 */
export async function reserve(
  store: DeliveryStore,
  { resource, owner }: { resource: string; owner: string },
  options: ClaimOptions,
): Promise<boolean> {
  const result = await askStore(store, { subject: resource }, options)
  if (result.state !== 'claimed') throw inProgress(1)
  const { lease, progress } = result
  const mine = progress.owner === undefined || progress.owner === owner
  const completion = {
    response: { status: 200, body: '' },
    progress: mine ? { owner } : progress,
    keepMs: KEEP_MS,
  }
  const kept = await store.complete(lease, completion).catch((cause: unknown) => {
    throw logged(unreachable(cause), options.logger)
  })
  if (!kept) throw inProgress(1)
  return mine
}

function keepAlive(
  store: DeliveryStore,
  { lease, takenOver, progress }: Extract<ClaimResult, { state: 'claimed' }>,
  asked: number,
  { logger, leaseMs, now }: ClaimOptions,
): Claim {
  const claimedAt = performance.now()
  const lost = new AbortController()
  const lose = () => lost.abort(takenOverByAnother())
  // Counted from before the request to the store, so never later than the store's own time.
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

  async function end(what: string, write: () => Promise<boolean>): Promise<IntegrationError | undefined> {
    clearInterval(timer)
    async function tryOnce(): Promise<IntegrationError | undefined> {
      try {
        if (await write()) return undefined
        logger('warn', `The ${what} was not recorded: the claim was lost.`, { ...lease })
        return takenOverByAnother()
      } catch (cause) {
        return unreachable(cause)
      }
    }
    const failure = await tryOnce()
    if (failure?.code !== 'overloaded') return failure
    // The caller's response does not wait for the store: the effect has happened, or certainly has not.
    logger('error', `The ${what} was not recorded.`, { ...lease, reason: reasonOf(failure.cause) })
    const again = setInterval(async () => {
      if (now() >= until || (await tryOnce())?.code !== 'overloaded') clearInterval(again)
    }, RETRY_END_MS)
    // A process may end before it succeeds: then the lease runs out by itself.
    again.unref?.()
    return failure
  }

  async function record(steps: Record<string, Json>): Promise<void> {
    Object.assign(progress, steps)
    const kept = await store.advance(lease, steps).catch((cause: unknown) => {
      throw logged(unreachable(cause), logger)
    })
    if (kept) return
    lose()
    throw takenOverByAnother()
  }

  return {
    lease,
    claimedAt,
    takenOver,
    progress,
    lost: lost.signal,
    ensureHeld() {
      if (now() >= until) lose()
      if (lost.signal.aborted) throw takenOverByAnother()
    },
    advance: (name, value) => record({ [name]: value }),
    async reset(steps) {
      await record({ ...Object.fromEntries(Object.keys(progress).map((name) => [name, null])), ...steps })
    },
    complete: (response, latest = progress) =>
      end('response', () => store.complete(lease, { response, progress: latest, keepMs: KEEP_MS })),
    async release(intent) {
      await end('release', async () => {
        if (intent === 'undone' && progress[ownSteps.intent] === true) {
          if (!(await store.advance(lease, { [ownSteps.intent]: null }))) return false
        }
        return store.release(lease)
      })
    },
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

/**
 * Reads a record.
 *
 * @throws {IntegrationError} `overloaded` if the store is unreachable
 */
export async function readStore(
  store: DeliveryStore,
  subject: string,
  { logger }: ClaimOptions,
): Promise<SubjectRecord | undefined> {
  try {
    return await store.read(subject)
  } catch (cause) {
    throw logged(unreachable(cause), logger)
  }
}

function logged(failure: IntegrationError, logger: Logger): IntegrationError {
  logger('error', 'The delivery store is unreachable.', { reason: reasonOf(failure.cause) })
  return failure
}

function unreachable(cause: unknown): IntegrationError {
  return new IntegrationError(
    'overloaded',
    'The delivery store is unreachable, and without it this could happen twice.',
    { retryAfter: 5, cause },
  )
}

function inProgress(retryAfter: number): IntegrationError {
  return new IntegrationError('delivery_in_progress', 'Another delivery is working on this.', { retryAfter })
}

function takenOverByAnother(): IntegrationError {
  return new IntegrationError('delivery_in_progress', 'Another delivery has taken this over.', {
    retryAfter: 1,
  })
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : 'unknown'
}
