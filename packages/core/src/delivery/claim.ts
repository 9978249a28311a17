import type { Json } from '../contract/handler-context.ts'
import { IntegrationError } from '../errors.ts'
import type { Logger } from '../log.ts'
import type { ClaimRequest, ClaimResult, DeliveryStore, RecordedResponse, SubjectRecord } from './store.ts'

/** In milliseconds. */
export const DEFAULT_LEASE_MS = 60_000
/** Renewals while a lease lasts, so that one failed renewal does not lose it. */
const RENEWALS = 3
/** The wait before a failed completion or release is written again, in milliseconds. */
const RETRY_END_MS = 1_000
/** Final responses and tombstones are kept for seven days. */
const KEEP_MS = 7 * 24 * 60 * 60 * 1000
/** The record of a living deployment, and of what it reserved, is kept until it is deleted: for a century at most. */
const KEEP_LIVING_MS = 100 * 365 * 24 * 60 * 60 * 1000

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
  leaseMs: number
  now: () => number
}

/** The right to work on a subject (contract §4), renewed until the work ends. */
export type Claim = ReturnType<typeof keepAlive>

/**
 * Claims a subject, or finds the recorded response.
 *
 * @throws {IntegrationError} `delivery_in_progress` if another delivery works on it, `invalid_event` (422) if the
 * delivery's id was used with another body, `overloaded` if the store is unreachable
 */
export async function claimSubject(
  store: DeliveryStore,
  request: Omit<ClaimRequest, 'leaseMs'>,
  options: ClaimOptions,
): Promise<{ claim: Claim } | { replay: RecordedResponse }> {
  const asked = options.now()
  const result = await reach(options, () => store.claim({ ...request, leaseMs: options.leaseMs }))
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
 * Reserves a resource for one owner. The record is kept until the owner deletes the resource.
 *
 * @returns whether the owner has it, now or from before
 * @throws {IntegrationError} if another delivery reserves it right now, or one died while it did
 */
export async function reserve(
  store: DeliveryStore,
  { resource, owner }: { resource: string; owner: string },
  options: ClaimOptions,
): Promise<boolean> {
  const result = await reach(options, () => store.claim({ subject: resource, leaseMs: options.leaseMs }))
  if (result.state !== 'claimed') throw inProgress(1)
  const mine = result.progress.owner === undefined || result.progress.owner === owner
  const response = { status: 200, body: '' }
  const progress = mine ? { owner } : result.progress
  const kept = await reach(options, () =>
    store.complete(result.lease, { response, progress, keepMs: KEEP_LIVING_MS, keepResponseMs: KEEP_MS }),
  )
  if (!kept) throw inProgress(1)
  return mine
}

function keepAlive(
  store: DeliveryStore,
  { lease, progress }: Extract<ClaimResult, { state: 'claimed' }>,
  asked: number,
  { logger, leaseMs, now }: ClaimOptions,
) {
  const claimedAt = performance.now()
  const lost = new AbortController()
  const lose = () => lost.abort(takenOver())
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
        return takenOver()
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
    if (await reach({ logger }, () => store.advance(lease, steps))) return
    lose()
    throw takenOver()
  }

  return {
    lease,
    /** When the store gave the claim, by `performance.now`. */
    claimedAt,
    /** The recorded steps. */
    progress,
    /** Aborts when the lease is lost; nothing may be written after that. */
    lost: lost.signal,
    /**
     * Call right before sending. Detects an expired lease by the local clock, for example after SIGSTOP.
     *
     * @throws {IntegrationError} `delivery_in_progress` if the lease is over
     */
    ensureHeld(): void {
      if (now() >= until) lose()
      if (lost.signal.aborted) throw takenOver()
    },
    advance: (name: string, value: Json) => record({ [name]: value }),
    /** Replaces every step, because a new deployment begins under this id. */
    async reset(steps: Record<string, Json>): Promise<void> {
      await record({ ...Object.fromEntries(Object.keys(progress).map((name) => [name, null])), ...steps })
    },
    /** Ends the work. Returns why the response is not recorded; `undefined` if it is. */
    complete(response: RecordedResponse, { progress: latest = progress, isLiving = false } = {}) {
      const keepMs = isLiving ? KEEP_LIVING_MS : KEEP_MS
      const completion = { response, progress: latest, keepMs, keepResponseMs: KEEP_MS }
      return end('response', () => store.complete(lease, completion))
    },
    /** Gives the claim back; `undone` if the recorded intent certainly had no effect. */
    async release(intent: 'undone' | 'unknown'): Promise<void> {
      await end('release', async () => {
        if (intent === 'undone' && progress[ownSteps.intent] === true) {
          if (!(await store.advance(lease, { [ownSteps.intent]: null }))) return false
        }
        return store.release(lease)
      })
    },
  }
}

/** Logs if the store is unreachable, and throws `overloaded`. */
async function reach<T>({ logger }: Pick<ClaimOptions, 'logger'>, write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (cause) {
    logger('error', 'The delivery store is unreachable.', { reason: reasonOf(cause) })
    throw unreachable(cause)
  }
}

/**
 * Reads a record.
 *
 * @throws {IntegrationError} `overloaded` if the store is unreachable
 */
export function readStore(
  store: DeliveryStore,
  subject: string,
  options: ClaimOptions,
): Promise<SubjectRecord | undefined> {
  return reach(options, () => store.read(subject))
}

function unreachable(cause: unknown): IntegrationError {
  const message = 'The delivery store is unreachable, and without it this could happen twice.'
  return new IntegrationError('overloaded', message, { retryAfter: 5, cause })
}

function inProgress(retryAfter: number): IntegrationError {
  return new IntegrationError('delivery_in_progress', 'Another delivery is working on this.', { retryAfter })
}

function takenOver(): IntegrationError {
  const message = 'The lease of this delivery is over: another delivery may have taken it over.'
  return new IntegrationError('delivery_in_progress', message, { retryAfter: 1 })
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : 'unknown'
}
