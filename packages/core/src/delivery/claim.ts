/**
 * The right to work on a subject (contract §4). A claim lasts while the work does: its lease is renewed, its steps are
 * recorded, and its end is written.
 */
import type { Json } from '../contract/handler-context.ts'
import { causeOf, IntegrationError, isIntegrationError, toIntegrationError } from '../errors.ts'
import type { Logger } from '../log.ts'
import { type Cipher, decryptSteps, encryptSteps } from './encryption.ts'
import type { ClaimResult, Completion, DeliveryStore } from './store.ts'
import { within } from './within.ts'

/** In milliseconds. */
export const DEFAULT_LEASE_MS = 30_000
/** Renewals while a lease lasts. */
const RENEWALS = 3
/** Attempts of a claim before its event is refused. */
const ATTEMPTS = 3
/** No further attempt begins after so much time, in milliseconds. */
const LONGEST_ATTEMPTS_MS = 2_000
/** An event waits at least so long for a write, in milliseconds. */
export const LEAST_WAIT_MS = 500
/** The pause before the store is asked again, in milliseconds. */
const PAUSE_MS = 200

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

/** The steps that a handler recorded. */
export const handlerSteps = (progress: Readonly<Record<string, Json>>) =>
  Object.entries(progress).filter(([name]) => !name.startsWith('@'))

/** Keeps a process alive for work that goes on after a response. */
export type WaitUntil = (work: Promise<unknown>) => void

/** How claims are made and kept. */
export interface ClaimOptions {
  logger: Logger
  leaseMs: number
  now: () => number
  /** When the store must have given a claim, in milliseconds since 1970. */
  claimBy: number
  waitUntil?: WaitUntil | undefined
}

interface ClaimSubject {
  subject: string
  /** The delivery, if it has an id, with the digests that may be recorded for its body. */
  delivery?: { id: string; digests: AsyncIterable<string> } | undefined
  /** Encrypts the steps. */
  cipher?: Cipher | undefined
}

/** The right to work on a subject, renewed until the work ends. */
export type Claim = Awaited<ReturnType<typeof startClaim>>

/**
 * Claims a subject, or finds the recorded response.
 *
 * @throws {IntegrationError} `delivery_in_progress` if another delivery works on it, `invalid_event` (422) if the
 * delivery's id was used with another body, `overloaded` if the store is unreachable
 */
export async function claimSubject(
  store: DeliveryStore,
  { subject, delivery, cipher }: ClaimSubject,
  options: ClaimOptions,
): Promise<{ claim: Claim } | { replay: Extract<ClaimResult, { state: 'done' }> }> {
  const { logger, leaseMs, now, waitUntil, claimBy } = options
  const asked = now()
  // Repeated with the same owner, a claim whose answer was lost is the same claim.
  const owner = crypto.randomUUID()
  const isLast = (failures: number) => failures >= ATTEMPTS
  const isOver = (failures: number) => isLast(failures) || now() - asked >= LONGEST_ATTEMPTS_MS
  // With the current digest of the body, and with the others if the record has another one.
  for await (const digest of delivery?.digests ?? ['']) {
    const request = { subject, leaseMs, owner, delivery: delivery && { id: delivery.id, digest } }
    const ask = () => store.claim(request)
    const asking = askStore(ask, logger, isOver)
    const result = await inTime(asking, claimBy, () => {
      const again = asking.catch(() => askStore(ask, () => {}, isLast))
      const work = takeBack(store, again)
      waitUntil?.(work)
    })
    if (result.state === 'claimed') return { claim: await startClaim(store, result, asked, cipher, options) }
    if (result.state === 'done') return { replay: result }
    if (result.state === 'busy')
      throw inProgress(Math.min(5, Math.max(1, Math.ceil(result.retryAfterMs / 1000))))
  }
  throw new IntegrationError('invalid_event', 'This delivery id was used before, with another body.', {
    status: 422,
    hint: 'Give every event its own id; a redelivery repeats both the id and the body.',
  })
}

/**
 * The store may have given a claim although its answer was lost. Then the redelivery would have to wait until the lease
 * ends. So the host asks a few more times in the background, and gives the claim back.
 */
async function takeBack(store: DeliveryStore, asking: Promise<ClaimResult>): Promise<void> {
  const result = await asking.catch(() => undefined)
  if (result?.state === 'claimed') await store.release(result.lease).catch(() => {})
}

/** Renews the lease of a claim until the work ends. */
async function startClaim(
  store: DeliveryStore,
  { lease, progress: earlier }: Extract<ClaimResult, { state: 'claimed' }>,
  asked: number,
  cipher: Cipher | undefined,
  { logger, leaseMs, now, waitUntil }: ClaimOptions,
) {
  const claimedAt = performance.now()
  const progress = cipher ? await decryptSteps(earlier, cipher) : { ...earlier }
  const lost = new AbortController()
  const lose = () => lost.abort(takenOver())
  // Counted from before the request to the store, so never later than the store's own time.
  let until = asked + leaseMs
  let hasEnded = false
  const isOver = () => now() >= until
  const isLate = () => hasEnded || isOver()
  async function renew(): Promise<boolean> {
    const latest = now() + leaseMs
    const kept = await store.renew(lease, leaseMs)
    if (kept) until = Math.max(until, latest)
    return kept
  }
  const timer = setInterval(() => {
    if (isOver()) return lose()
    // The store may be back before the lease ends.
    const renewing = askStore(renew, () => {}, isLate)
    void renewing.catch(() => true).then((kept) => kept || lose())
  }, leaseMs / RENEWALS)

  let last: Promise<unknown> = Promise.resolve()

  /**
   * Writes in order, one at a time, and repeats each until the store answers or the lease ends. A write without an answer
   * may have been applied. Repeating it is harmless: it is fenced, and no later write of the claim was made meanwhile.
   *
   * @param by when this throws `overloaded`, in milliseconds since 1970; the write goes on in the background then
   */
  async function write(apply: () => Promise<boolean>, by = 0): Promise<boolean> {
    const written = last.then(() => askStore(apply, logger, isOver))
    last = written.catch(() => {})
    return inTime(written, by, () => waitUntil?.(last))
  }

  /**
   * Records steps.
   *
   * @param by when this throws `overloaded`, in milliseconds since 1970, if not before the end of the lease; the write
   * goes on in the background then
   * @throws {IntegrationError} `delivery_in_progress` if the claim was lost
   */
  async function record(steps: Record<string, Json>, by?: number): Promise<void> {
    Object.assign(progress, steps)
    const encrypted = cipher && encryptSteps(steps, cipher)
    const advance = async () => {
      const isKept = await store.advance(lease, (await encrypted) ?? steps)
      if (!isKept) lose()
      return isKept
    }
    // The end of the lease would cut the call that waits for this, and nobody could tell that it never left.
    const beforeLoss = Date.now() + until - now() - LEAST_WAIT_MS
    const isKept = await write(advance, by && Math.min(by, beforeLoss))
    if (!isKept) throw takenOver()
  }

  /** The response does not wait for the store after `by`: the effect has happened, or certainly has not. */
  async function end(what: string, apply: () => Promise<boolean>, by?: number) {
    clearInterval(timer)
    hasEnded = true
    const written = write(apply, by)
    // Also after the event has gone on: until then, nobody knows.
    void last.then((isKept) => {
      if (isKept === undefined) logger('error', `The ${what} was not recorded.`, { ...lease })
      if (isKept === false) logger('warn', `The ${what} was not recorded: the claim was lost.`, { ...lease })
    })
    try {
      return (await written) ? undefined : takenOver()
    } catch (error) {
      logger('info', `The host answered without the record of the ${what}.`)
      return toIntegrationError(error)
    }
  }

  return {
    lease,
    /** When the store gave the claim, by `performance.now`. */
    claimedAt,
    /** The steps: those of earlier claims, and its own, whether the store has them already or not. */
    progress,
    /** Aborts when the lease is lost; nothing may be written after that. */
    lost: lost.signal,
    /**
     * Call right before sending. Detects an expired lease by the local clock, for example after SIGSTOP, and work
     * that its handler did not wait for.
     *
     * @throws {IntegrationError} `delivery_in_progress` if the lease or the work is over
     */
    ensureClaimed(): void {
      if (isLate()) lose()
      if (lost.signal.aborted) throw takenOver()
    },
    record,
    /**
     * Ends the work.
     *
     * @returns why the response is not recorded, or not yet; `undefined` if it is
     */
    complete: (completion: Completion, by?: number) =>
      end('response', () => store.complete(lease, completion), by),
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

/**
 * Asks the store until it answers.
 *
 * @param isOver is asked after each failure with the number of failures; by default, the store is asked once
 * @throws {IntegrationError} `overloaded`, or `internal_error` if the host did not sign the record
 */
export async function askStore<T>(
  ask: () => Promise<T>,
  logger: Logger,
  isOver: (failures: number) => boolean = () => true,
): Promise<T> {
  for (let failures = 1; ; failures += 1) {
    try {
      return await ask()
    } catch (cause) {
      const reason = causeOf(cause)
      if (isIntegrationError(cause)) {
        logger('error', 'A record of the delivery store is not used.', { reason })
        throw cause
      }
      if (failures === 1) logger('error', 'The delivery store is unreachable.', { reason })
      if (isOver(failures)) throw unreachable(cause)
    }
    // A process may end before the store is back: then the lease runs out by itself.
    await new Promise((resolve) => void setTimeout(resolve, PAUSE_MS).unref?.())
  }
}

/**
 * Waits for the store until a time, and for a moment at least.
 *
 * @param by in milliseconds since 1970
 * @param onFailure is called if the work fails, or goes on without its caller
 * @throws {IntegrationError} `overloaded` if it takes longer
 */
export async function inTime<T>(asking: Promise<T>, by: number, onFailure?: () => void): Promise<T> {
  const limitMs = Math.round(Math.max(by - Date.now(), LEAST_WAIT_MS))
  const message = `The delivery store did not answer within ${limitMs} ms.`
  return within(limitMs, asking, message).catch((error: unknown) => {
    onFailure?.()
    throw isIntegrationError(error) ? error : unreachable(error)
  })
}

function unreachable(cause: unknown): IntegrationError {
  const message = 'The delivery store is unreachable, and without it this could happen twice.'
  return new IntegrationError('overloaded', message, { retryAfter: 5, cause })
}

/** The error for what another delivery works on. */
export function inProgress(retryAfter: number): IntegrationError {
  return new IntegrationError('delivery_in_progress', 'Another delivery is working on this.', { retryAfter })
}

function takenOver(): IntegrationError {
  const message = 'The lease of this delivery is over: another delivery may have taken it over.'
  return new IntegrationError('delivery_in_progress', message, { retryAfter: 1 })
}
