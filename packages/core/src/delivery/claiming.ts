/** Requests to the delivery store without a claim: a claim, a reservation, a record. */
import { IntegrationError, isIntegrationError } from '../errors.ts'
import { type Claim, type ClaimOptions, KEEP_LIVING_MS, startClaim } from './claim.ts'
import { claimByDigest, type DigestedRequest } from './keys.ts'
import type { ClaimRequest, ClaimResult, DeliveryStore, SubjectRecord } from './store.ts'
import { logStoreFault, repeat, unreachable } from './writes.ts'

/** Attempts of a claim before its event is refused. */
const ATTEMPTS = 3
/** No further attempt begins after so much time, in milliseconds. */
const LONGEST_ATTEMPTS_MS = 2_000
/** Claims that are taken back at a time. A store that is away for long has seen none of the others. */
const MAX_TAKEN_BACK = 1_000

let takenBack = 0

/** A recorded response, and the fence of its claim. */
export type Replay = Extract<ClaimResult, { state: 'done' }>

/**
 * Claims a subject, or finds the recorded response.
 *
 * @throws {IntegrationError} `delivery_in_progress` if another delivery works on it, `invalid_event` (422) if the
 * delivery's id was used with another body, `overloaded` if the store is unreachable
 */
export async function claimSubject(
  store: DeliveryStore,
  request: Omit<DigestedRequest, 'leaseMs'>,
  options: ClaimOptions,
): Promise<{ claim: Claim } | { replay: Replay }> {
  const asked = options.now()
  const claim = (request: ClaimRequest) => claimOrTakeBack(store, request, options)
  const result = await claimByDigest({ claim }, { ...request, leaseMs: options.leaseMs })
  switch (result.state) {
    case 'claimed':
      return { claim: startClaim(store, result, asked, options) }
    case 'done':
      return { replay: result }
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
 * @throws {IntegrationError} `overloaded` if the store is unreachable
 */
export async function reserve(
  store: DeliveryStore,
  { resource, owner, by }: { resource: string; owner: string; by: number },
  { logger }: ClaimOptions,
): Promise<boolean> {
  const request = { subject: resource, owner, keepMs: KEEP_LIVING_MS }
  const first = await repeat(
    () => store.reserve(request),
    () => Date.now() >= by,
    (cause) => logStoreFault(logger, cause),
  )
  return first === owner
}

/**
 * Claims, and asks again if an answer is lost. If all are, the store may have given the claim, which would block the
 * redelivery until the lease ends: it is taken back in the background.
 */
async function claimOrTakeBack(
  store: DeliveryStore,
  request: ClaimRequest,
  { logger, leaseMs, now, waitUntil, stopping }: ClaimOptions,
): Promise<ClaimResult> {
  const asked = now()
  const owned = { ...request, owner: crypto.randomUUID() }
  const ask = () => store.claim(owned)
  let failures = 0
  const isTooLate = () => {
    failures += 1
    return failures >= ATTEMPTS || now() - asked >= LONGEST_ATTEMPTS_MS
  }

  async function takeBack(): Promise<void> {
    takenBack += 1
    const release = async () => {
      const result = await ask()
      if (result.state === 'claimed') await store.release(result.lease)
    }
    // A host that shuts down has no event to lose here, and does not wait for a store that is away.
    const isOver = () => stopping?.aborted === true || now() - asked >= leaseMs
    await repeat(release, isOver).catch(() => {})
    takenBack -= 1
  }

  try {
    return await repeat(ask, isTooLate, (cause) => logStoreFault(logger, cause))
  } catch (error) {
    if (takenBack < MAX_TAKEN_BACK) {
      const work = takeBack()
      waitUntil?.(work)
    }
    throw error
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
    logStoreFault(logger, cause)
    throw isIntegrationError(cause) ? cause : unreachable(cause)
  }
}

/** The error for what another delivery works on. */
export function inProgress(retryAfter: number): IntegrationError {
  return new IntegrationError('delivery_in_progress', 'Another delivery is working on this.', { retryAfter })
}
