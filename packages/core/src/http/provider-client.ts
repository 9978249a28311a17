/**
 * The skeleton of every provider client: credentials, deadline, retries, and errors of the family.
 *
 * @module
 */
import { IntegrationError } from '../errors.ts'
import { createHttpClient, type HttpRequest } from './client.ts'
import { HttpFailure } from './failure.ts'
import { type Provider, toProviderError, unknownOutcome } from './provider-error.ts'

/** Options of {@link createProviderClient}. */
export interface ProviderClientOptions {
  baseUrl: string
  /** The token or key. It is checked before each call, so that a client can be made without one. */
  credential: string
  headers: Record<string, string>
  /** @default globalThis.fetch */
  fetch?: typeof fetch | undefined
  /**
   * Longest time for one call with its retries, in milliseconds.
   * @default 30_000
   */
  timeoutMs?: number | undefined
  /**
   * Longest response, in bytes after decompression.
   * @default 1 MiB
   */
  maxBytes?: number | undefined
  /** See `HttpClientOptions`. */
  wait?: ((milliseconds: number, signal: AbortSignal) => Promise<void>) | undefined
}

/** Options of each call. An event's `HandlerContext` fits. */
export interface CallOptions {
  /** Ends the call at once. */
  signal?: AbortSignal | undefined
  /**
   * Longest time for this call, in milliseconds.
   * @default the client's `timeoutMs`
   */
  timeoutMs?: number | undefined
  /**
   * When the call must be over, in milliseconds since 1970; used instead of `timeoutMs`.
   * @default none
   */
  deadline?: number | undefined
}

/** One request to a provider. */
export interface ProviderRequest
  extends Omit<HttpRequest, 'signal' | 'deadline' | 'repeatable' | 'attemptMs'> {
  /**
   * The effect of the call, for example `the mail was sent`. Such a call is repeated only if it certainly had no
   * effect, and a failure without a clear response is `outcome_unknown`.
   */
  effect?: string | undefined
}

/** A 2xx response, read. */
export interface ProviderReply<Value> {
  status: number
  value: Value
}

/** Calls one provider. */
export interface ProviderClient {
  /**
   * Sends a request.
   *
   * @param read reads the body; `undefined` means that it is not what the provider promises
   * @throws {IntegrationError}, or the signal's reason if it ended the call before anything left
   */
  call<Value>(
    request: ProviderRequest,
    read: (body: unknown) => Value | undefined,
    options?: CallOptions,
  ): Promise<ProviderReply<Value>>
  /** The options of several calls that share one deadline. */
  within(options?: CallOptions): { signal: AbortSignal | undefined; deadline: number }
}

/** A credential that a header can hold. */
const CREDENTIAL = /^[!-~]+$/

/** Makes the client of one provider. */
export function createProviderClient(provider: Provider, options: ProviderClientOptions): ProviderClient {
  const { credential, timeoutMs = 30_000, maxBytes } = options
  const { name, title, credentials } = provider
  const send = createHttpClient(options)

  function within({ signal, deadline, timeoutMs: limit = timeoutMs }: CallOptions = {}) {
    return { signal, deadline: deadline ?? Date.now() + limit }
  }

  function toError(error: unknown, effect: string | undefined): unknown {
    if (!(error instanceof HttpFailure)) return error
    const words = provider.readFailure(error)
    return words instanceof IntegrationError ? words : toProviderError(error, { provider, effect, words })
  }

  function notUnderstood(status: number, effect: string | undefined): IntegrationError {
    const reason = `${title}’s response has an unexpected body.`
    const refusal = { provider: { name, status } }
    return effect
      ? unknownOutcome(`It is not known whether ${effect}: ${reason}`, refusal)
      : new IntegrationError('provider_error', reason, { hint: 'Check the base URL.', ...refusal })
  }

  return {
    within,
    async call({ effect, ...request }, read, callOptions) {
      if (!CREDENTIAL.test(credential.trim())) {
        const message = `The ${credentials.title} is missing, or contains an invalid character.`
        throw new IntegrationError('missing_credentials', message, { hint: credentials.missingHint })
      }
      const { status, body } = await send({
        maxBytes,
        ...request,
        ...within(callOptions),
        // A call with an effect is not repeated after a time-out, so one attempt may take all the time.
        ...(effect === undefined
          ? { repeatable: true }
          : { repeatable: false, attemptMs: Number.POSITIVE_INFINITY }),
      }).catch((error: unknown) => {
        throw toError(error, effect)
      })
      const value = read(body)
      if (value === undefined) throw notUnderstood(status, effect)
      return { status, value }
    },
  }
}
