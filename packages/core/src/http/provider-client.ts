import type { Gate, GateLimits, Pass } from '../contract/gate.ts'
import { IntegrationError, isIntegrationError } from '../errors.ts'
import { readJson } from '../json.ts'
import { createHttpClientBy, type HttpClientOptions, type HttpRequest } from './client.ts'
import { effectOf, HttpFailure, interrupted } from './failure.ts'
import { createGate } from './gate.ts'
import { type Provider, toProviderError, unknownOutcome } from './provider-error.ts'
import type { JsonReader } from './response.ts'

/** Options of {@link createProviderClient}. */
export interface ProviderClientOptions extends Omit<HttpClientOptions, 'isOwnForm'> {
  /** The token or key. It is checked before each call, so that a client can be made without one. */
  credential: string
  /** Longest time for one call with its retries; 30,000 by default. */
  timeoutMs?: number | undefined
  /** Holds changes back after one whose outcome is unknown; by default, the client's own. */
  gate?: Gate | undefined
  /** Longest response after decompression; 1 MiB by default. */
  maxBytes?: number | undefined
  /** Most values in the JSON of a response, keys not counted; 20,000 by default. */
  maxValues?: number | undefined
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
export interface ProviderRequest
  extends Omit<HttpRequest, 'signal' | 'deadline' | 'repeatable' | 'attemptMs' | 'beforeSend'> {
  /**
   * What the call changes, as the end of a sentence, for example `the mail was sent`. Such a call is repeated only if it certainly had no
   * effect, and a failure without a clear response is `outcome_unknown`.
   */
  change?: string | undefined
}

/** Calls one provider. */
export type ProviderClient = ReturnType<typeof createProviderClient>

/** The longest time for the read of a gate, in milliseconds. */
const PROBE_MS = 2_000
/** A credential that a header can hold. */
const CREDENTIAL = /^[!-~]+$/

/** Makes the client of one provider: it checks the credential, retries, and throws errors with hints. */
export function createProviderClient(provider: Provider, options: ProviderClientOptions) {
  return createProviderClientBy(readJson, provider, options)
}

/** {@link createProviderClient} with a reader of JSON, for an SDK that loads no more than it needs. */
export function createProviderClientBy(read: JsonReader, provider: Provider, options: ProviderClientOptions) {
  const { credential, timeoutMs = 30_000, maxBytes, maxValues, gate: ownGate = createGate()('') } = options
  const { name, title, credentials } = provider
  const send = createHttpClientBy(read, { ...options, isOwnForm: provider.isOwnForm })
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

  function notUnderstood(status: number, change: string | undefined): IntegrationError {
    const reason = `${title}’s response has an unexpected body.`
    const refusal = { provider: { name, status } }
    return change
      ? unknownOutcome(`It is not known whether ${change}: ${reason}`, refusal)
      : new IntegrationError('provider_error', reason, { hint: 'Check the base URL.', ...refusal })
  }

  /** Whether the provider itself answers, with anything but “not now”. */
  async function probe(limits: ReturnType<typeof within>): Promise<boolean> {
    const { path, isAnswer } = provider.probe
    const request = { method: 'GET', path, attempts: 1, attemptMs: PROBE_MS, isProbe: true } as const
    return send({ ...request, ...limits, maxBytes, maxValues }).then(
      ({ body }) => isAnswer(body),
      (error: unknown) =>
        error instanceof HttpFailure &&
        error.isOwnForm &&
        effectOf(error.status ?? 500) === 'none' &&
        error.status !== 429,
    )
  }

  const enter = async (callOptions: CallOptions = {}, wait?: GateLimits['wait']) => {
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
      { change, ...request }: ProviderRequest,
      read: (body: unknown) => Value | undefined,
      // Read by name: a copy of an event's context would lose its getters, such as the signal.
      callOptions: CallOptions & { pass?: Pass | undefined } = {},
    ): Promise<{ status: number; value: Value }> {
      checkCredential()
      const limits = within(callOptions)
      const repeatable = change === undefined
      const own = repeatable || callOptions.pass ? undefined : await enter(callOptions)
      const beforeSend = (callOptions.pass ?? own)?.ensureOpen
      // A call with an effect is not repeated after a time-out, so one attempt may take all the time.
      const attemptMs = repeatable ? undefined : Number.POSITIVE_INFINITY
      try {
        const sent = { maxBytes, maxValues, ...request, ...limits, repeatable, attemptMs, beforeSend }
        const { status, body } = await send(sent).catch((error: unknown) => {
          throw toError(error, change)
        })
        const value = read(body)
        if (value === undefined) throw notUnderstood(status, change)
        own?.leave('made')
        return { status, value }
      } catch (error) {
        own?.leave(isIntegrationError(error) && error.effect === 'unknown' ? 'unknown' : 'unmade')
        throw error
      }
    },
  }
}
