import type { Gate, GateLimits, Pass } from '../contract/gate.ts'
import { IntegrationError, isIntegrationError } from '../errors.ts'
import {
  type AttemptLimits,
  attempt,
  type Connection,
  type HttpRequest,
  LONGEST_TIMER_MS,
  pause,
} from './attempt.ts'
import { createGate } from './gate.ts'
import { type Provider, toProviderError } from './provider-error.ts'
import { effectOf, HttpFailure, interrupted } from './response.ts'

/** Options of {@link createProviderClient}. */
export interface ProviderClientOptions extends Connection {
  /** The token or key. It is checked before each call, so that a client can be made without one. */
  credential: string
  /** Longest time for one call with its retries; 30,000 by default. */
  timeoutMs?: number | undefined
  /** Holds changes back after one whose outcome is unknown; by default, the client's own. */
  gate?: Gate | undefined
  /** Waits between two attempts, by default with a timer that the signal ends early. */
  wait?: ((milliseconds: number, signal: AbortSignal) => Promise<void>) | undefined
}

/** Options of each call. An event's `HandlerContext` is valid, too. */
export interface CallOptions {
  /** Ends the call at once. */
  signal?: AbortSignal | undefined
  /** Longest time for this call; by default the client's. */
  timeoutMs?: number | undefined
  /** When the call must be over, in milliseconds since 1970; used instead of `timeoutMs`. */
  deadline?: number | undefined
  /** Holds changes back after one whose outcome is unknown; by default, the client's. */
  gate?: Gate | undefined
}

/** One request to a provider. */
export interface ProviderRequest extends HttpRequest {
  /**
   * The effect of a call that changes something, as the end of a sentence: `the mail was sent`. Such a call is repeated
   * only if it certainly had no effect, and a failure without a clear response is `outcome_unknown`.
   */
  change?: string | undefined
  /** Attempts in all, the first included; 3 by default. */
  attempts?: number | undefined
}

/** Calls one provider. */
export type ProviderClient = ReturnType<typeof createProviderClient>

/** The longest time for one attempt of a read, and for the read of a gate, in milliseconds. */
const READ_MS = 10_000
const PROBE_MS = 2_000
/** No attempt of a change begins so late, in milliseconds: one that its deadline cuts has an unknown outcome. */
const LONGEST_RESERVE_MS = 2_000
const RETRYABLE_STATUS = new Set([408, 425, 429, 500, 502, 503, 504])
const FIRST_BACKOFF_MS = 200
const LONGEST_BACKOFF_MS = 2_000
/** A credential that a header can hold. */
const CREDENTIAL = /^[!-~]+$/

/**
 * Makes the client of one provider. It checks the credential, retries while the deadline allows, and throws errors with
 * hints. A `Retry-After` beyond the deadline ends a call at once, so that the caller can pass it on.
 */
export function createProviderClient(provider: Provider, options: ProviderClientOptions) {
  const { credential, timeoutMs = 30_000, gate: ownGate = createGate()(''), wait: waitFor = pause } = options
  const { credentials, isOwnForm } = provider
  const connection = { ...options, isOwnForm }
  const account = `${URL.canParse(options.baseUrl) ? new URL(options.baseUrl).origin : ''} ${credential}`

  function checkCredential(): void {
    if (CREDENTIAL.test(credential.trim())) return
    const message = `The ${credentials.title} is missing, or contains an invalid character.`
    throw new IntegrationError('missing_credentials', message, { hint: credentials.missingHint })
  }

  function within({ signal, deadline, timeoutMs: limit = timeoutMs, gate = ownGate }: CallOptions = {}) {
    return { signal, deadline: deadline ?? Date.now() + limit, gate }
  }

  function toError(error: unknown, change: string | undefined): unknown {
    if (!(error instanceof HttpFailure)) return error
    const words = provider.readFailure(error)
    return words instanceof IntegrationError ? words : toProviderError(error, { provider, change, words })
  }

  /** Sends a request, and repeats it if its error is retryable, while there is time. */
  async function send(
    { change, attempts = 3, ...request }: ProviderRequest,
    limits: Omit<AttemptLimits, 'attemptMs'>,
  ) {
    const { signal, deadline } = limits
    const isRead = change === undefined
    // A change is not repeated after a time-out, so one attempt may take all the time.
    const attemptMs = isRead ? READ_MS : Number.POSITIVE_INFINITY
    const reserveMs = isRead ? 0 : Math.min(LONGEST_RESERVE_MS, (deadline - Date.now()) / 3)
    for (let count = 1; ; count += 1) {
      try {
        return await attempt(connection, request, { ...limits, attemptMs })
      } catch (failure) {
        const error = toError(failure, change)
        const mayRepeat = isPassing(failure) && isIntegrationError(error) && error.retryable
        if (!mayRepeat || count >= attempts) throw error
        const { retryAfter } = failure
        const delay = retryAfter === undefined ? backoff(count) : retryAfter * 1000
        if (Date.now() + delay + reserveMs >= deadline) throw error
        const remaining = Math.ceil(Math.min(deadline - Date.now(), LONGEST_TIMER_MS))
        await waitFor(delay, signal ?? AbortSignal.timeout(remaining))
        if (signal?.aborted) throw toError(interrupted(signal, failure.effect), change)
      }
    }
  }

  /** Whether the provider itself answers, with anything but “not now”. */
  function probe({ signal, deadline }: ReturnType<typeof within>): Promise<boolean> {
    const { path, isAnswer } = provider.probe
    const limits = { signal, deadline, attemptMs: PROBE_MS, isProbe: true }
    return attempt(connection, { method: 'GET', path }, limits).then(
      ({ body }) => isAnswer(body),
      (error: unknown) =>
        error instanceof HttpFailure &&
        error.isOwnForm &&
        effectOf(error.status ?? 500) === 'none' &&
        error.status !== 429,
    )
  }

  async function enter(callOptions: CallOptions = {}, wait?: GateLimits['wait']): Promise<Pass> {
    const { gate, ...limits } = within(callOptions)
    const { signal } = limits
    return gate
      .enter(account, () => probe({ gate, ...limits }), { wait, ...limits })
      .catch((error: unknown) => {
        throw signal?.aborted ? toError(interrupted(signal, 'none'), undefined) : error
      })
  }

  return {
    /** @throws {IntegrationError} `missing_credentials` */
    checkCredential,
    /**
     * Asks for the right to make a change, for a caller that has something to do between it and the call.
     *
     * @param wait see {@link GateLimits}
     */
    enter,
    /** The options of several calls that share one deadline. */
    within,
    /**
     * Sends a request.
     *
     * @param read reads the body of a 2xx response; `undefined` means that it is not what the provider promises
     * @param callOptions `pass`: see `enter`, its owner leaves; by default, a change asks for one itself
     * @throws {IntegrationError} `aborted` if the signal ended the call before it had an effect
     */
    async call<Value>(
      request: ProviderRequest,
      read: (body: unknown) => Value | undefined,
      // Read by name: a copy of an event's context would lose its getters, such as the signal.
      callOptions: CallOptions & { pass?: Pass | undefined } = {},
    ): Promise<Value> {
      checkCredential()
      const { signal, deadline } = within(callOptions)
      const { change } = request
      const own = change === undefined || callOptions.pass ? undefined : await enter(callOptions)
      const beforeSend = (callOptions.pass ?? own)?.ensureOpen
      try {
        const { status, body } = await send(request, { signal, deadline, beforeSend })
        const value = read(body)
        if (value === undefined) {
          const message = 'The response has an unexpected body; check the base URL.'
          throw new HttpFailure('malformed', message, { effect: 'unknown', status })
        }
        own?.leave('made')
        return value
      } catch (failure) {
        const error = toError(failure, change)
        own?.leave(isIntegrationError(error) && error.effect === 'unknown' ? 'unknown' : 'unmade')
        throw error
      }
    },
  }
}

/** Whether the same request may soon meet another fate: the caller has not ended it, and no page of a firewall answered. */
function isPassing(failure: unknown): failure is HttpFailure {
  if (!(failure instanceof HttpFailure)) return false
  const { kind, status = 0 } = failure
  return kind === 'status' ? RETRYABLE_STATUS.has(status) : kind !== 'aborted' && kind !== 'too_large'
}

/** The wait after the attempt of this number, in milliseconds: exponential, with full jitter. */
function backoff(count: number): number {
  return Math.random() * Math.min(LONGEST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** count)
}
