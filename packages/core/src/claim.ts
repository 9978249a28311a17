/**
 * Working under a claim: ask for it, keep it alive, and end it with an answer or give it back (contract §4).
 *
 * @module
 */
import type { ClaimRequest, ClaimResult, DeliveryStore, Json, Lease, RecordedAnswer } from './delivery.ts'
import { IntegrationError } from './errors.ts'
import type { Logger } from './log.ts'

/** How long a claim lasts without a sign of life. */
const LEASE_MS = 60_000
const RENEW_MS = 20_000
/** Final answers and tombstones are kept for seven days. */
const KEEP_MS = 7 * 24 * 60 * 60 * 1000

/** A claim under which work goes on. */
export interface Claim {
  readonly lease: Lease
  /** An earlier holder vanished in the middle of its work. */
  readonly takenOver: boolean
  /** What is recorded of the subject. */
  readonly progress: Readonly<Record<string, Json>>
  /** Fires when the lease is lost; nothing may be written after that. */
  readonly lost: AbortSignal
  /** Records a step. */
  advance(name: string, value: Json): Promise<void>
  complete(answer: RecordedAnswer, progress?: Record<string, Json>): Promise<void>
  release(): Promise<void>
}

/**
 * A `fetch` that writes down that a change is under way before the first call that can make one leaves. So a
 * later holder knows whether there is anything to be unsure of.
 */
export function recordIntent(send: typeof fetch, claim: Claim): typeof fetch {
  let written: Promise<void> | undefined
  return async (input, init) => {
    const method = init?.method ?? (input instanceof Request ? input.method : 'GET')
    if (method !== 'GET') {
      written ??= claim.advance('intent', true)
      await written
    }
    return send(input, init)
  }
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
  logger: Logger,
): Promise<ClaimOutcome> {
  const result = await askStore(store, request, logger)
  switch (result.state) {
    case 'claimed':
      return { claim: keepAlive(store, result, logger) }
    case 'done':
      return { replay: result.answer }
    case 'busy':
      throw new IntegrationError('delivery_in_progress', 'This is being worked on by another delivery.', {
        retryAfter: Math.min(5, Math.max(1, Math.ceil(result.retryAfterMs / 1000))),
      })
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
  logger: Logger,
): Promise<ClaimResult> {
  try {
    return await store.claim({ ...request, leaseMs: LEASE_MS })
  } catch (cause) {
    throw unreachable(cause, logger)
  }
}

function unreachable(cause: unknown, logger: Logger): IntegrationError {
  logger('error', 'The delivery store can’t be reached.', { reason: reasonOf(cause) })
  return new IntegrationError(
    'overloaded',
    'The delivery store can’t be reached, and without it this could happen twice.',
    { retryAfter: 5, cause },
  )
}

function keepAlive(
  store: DeliveryStore,
  { lease, takenOver, progress }: Extract<ClaimResult, { state: 'claimed' }>,
  logger: Logger,
): Claim {
  const lost = new AbortController()
  const lose = () => lost.abort(new Error('The claim on this delivery was lost to another holder.'))
  const timer = setInterval(() => {
    store.renew(lease, LEASE_MS).then((kept) => {
      if (!kept) lose()
    }, lose)
  }, RENEW_MS)

  async function end(what: string, write: () => Promise<boolean>): Promise<void> {
    clearInterval(timer)
    try {
      if (!(await write()))
        logger('warn', `The ${what} was not recorded: the claim had been lost.`, { ...lease })
    } catch (error) {
      // The effect has happened, or certainly has not: the answer stands, and the lease runs out by itself.
      logger('error', `The ${what} was not recorded.`, { ...lease, reason: reasonOf(error) })
    }
  }

  return {
    lease,
    takenOver,
    progress,
    lost: lost.signal,
    async advance(name, value) {
      progress[name] = value
      const kept = await store.advance(lease, progress).catch((cause: unknown) => {
        throw unreachable(cause, logger)
      })
      if (kept) return
      lose()
      throw new IntegrationError('delivery_in_progress', 'Another delivery has taken this over.', {
        retryAfter: 1,
      })
    },
    complete: (answer, latest = progress) =>
      end('answer', () => store.complete(lease, { answer, progress: latest, keepMs: KEEP_MS })),
    release: () => end('release', () => store.release(lease)),
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : 'unknown'
}
