import type { Gate, GateLimits, Pass } from '../contract/gate.ts'
import {
  type ErrorCode,
  type FieldError,
  IntegrationError,
  type IntegrationErrorOptions,
  isIntegrationError,
  shortageOf,
  toIntegrationError,
} from '../errors.ts'
import { maskAddresses } from '../log.ts'
import { createHttpClient, type HttpClientOptions, type HttpRequest } from './client.ts'
import { createGate } from './gate.ts'
import { effectOf, HttpFailure, interrupted } from './response.ts'

/** The provider's own code and words, and our hint for that code. */
export interface ProviderWords {
  code?: string | undefined
  message?: string | undefined
  hint?: string | undefined
  /** Every fault that the provider names. */
  errors?: readonly FieldError[] | undefined
  /** The provider's id of its response. */
  traceId?: string | undefined
}

/** One provider, as errors name it. */
export interface Provider {
  /** The neutral name of the integration, for example `mailer`. */
  name: string
  /** The subject of a sentence, for example `The mail provider`. */
  title: string
  credentials: {
    /** For example `Server API Token`. */
    title: string
    /** The hint of the error for missing credentials, for example `Pass it as apiToken.` */
    missingHint: string
    /** The hint of the error for rejected credentials. */
    rejectedHint: string
  }
  /** Whether a body is one that the provider itself sends with a failure: a gateway in front of it has another form. */
  isOwnForm: (body: unknown) => boolean
  /** A read that changes nothing, which tells whether the provider answers again. */
  probe: {
    /** With a leading slash. */
    path: string
    /** Whether the body of a 2xx response is the provider's own: a page of a gateway is not. */
    isAnswer: (body: unknown) => boolean
  }
  /**
   * Reads the provider's own words from a failure, or decides what the failure means. It is asked before a retry: an
   * error that is not retryable ends the call, even after a 429.
   */
  readFailure: (failure: HttpFailure) => ProviderWords | IntegrationError
}

/** Options of {@link createProviderClient}. */
export interface ProviderClientOptions extends Omit<HttpClientOptions, 'isOwnForm' | 'readFailure'> {
  /** The token or key. It is checked before each call, so that a client can be made without one. */
  credential: string
  /** Longest time for one call with its retries; 30,000 by default. */
  timeoutMs?: number | undefined
  /** Holds changes back after one whose outcome is unknown; by default, the client's own. */
  gate?: Gate | undefined
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
  const { credential, timeoutMs = 30_000, gate: ownGate = createGate()('') } = options
  const { credentials } = provider
  const send = createHttpClient({ ...options, ...provider })
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

  /** Whether the provider itself answers, with anything but “not now”. */
  async function probe(limits: ReturnType<typeof within>): Promise<boolean> {
    const { path, isAnswer } = provider.probe
    const request = { method: 'GET', path, attempts: 1, attemptMs: PROBE_MS, isProbe: true } as const
    return send({ ...request, ...limits }).then(
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
        const sent = { ...request, ...limits, repeatable, attemptMs, beforeSend }
        const { status, body } = await send(sent)
        const value = read(body)
        if (value === undefined) {
          const message = 'The response has an unexpected body; check the base URL.'
          throw new HttpFailure('malformed', message, { effect: 'unknown', status })
        }
        own?.leave('made')
        return { status, value }
      } catch (failure) {
        const error = toError(failure, change)
        own?.leave(isIntegrationError(error) && error.effect === 'unknown' ? 'unknown' : 'unmade')
        throw error
      }
    },
  }
}

/**
 * The error for a failed call.
 *
 * @param facts `change` if the call changes something; see `ProviderRequest`
 * @returns if the caller ended the call before it had an effect: `aborted`, or the caller's reason if that is an
 * `IntegrationError`
 */
function toProviderError(
  failure: HttpFailure,
  { provider, change, words }: { provider: Provider; change: string | undefined; words: ProviderWords },
): IntegrationError {
  const inDoubt = change !== undefined && failure.effect === 'unknown'
  // The host's own reason, such as a lost lease.
  if (failure.kind === 'aborted' && !inDoubt && isIntegrationError(failure.cause)) return failure.cause
  const message = words.message === undefined ? undefined : maskAddresses(words.message)
  const { code, hint, traceId } = words
  const options: IntegrationErrorOptions = {
    hint,
    retryAfter: failure.retryAfter,
    errors: listErrors(words.errors),
    provider: { name: provider.name, status: failure.status, code, message, traceId },
    cause: failure.cause ?? failure,
  }
  if (inDoubt) return unknownOutcome(`It is not known whether ${change}: ${failure.message}`, options)
  if (shortageOf(failure)) return toIntegrationError(options.cause)
  if (failure.status === 401 && failure.isOwnForm) {
    const { title, rejectedHint: hint } = provider.credentials
    const sentence = `${provider.title} does not accept the ${title}.`
    return new IntegrationError('credentials_rejected', sentence, { ...options, hint })
  }
  const [kind, sentence] = classify(failure, provider.title, message)
  return new IntegrationError(kind, sentence, options)
}

/** The error for a change that may have been made. */
export function unknownOutcome(message: string, options: IntegrationErrorOptions = {}): IntegrationError {
  return new IntegrationError('outcome_unknown', message, {
    ...options,
    hint: 'Check at the provider before you repeat it.',
    retryAfter: undefined,
    effect: 'unknown',
  })
}

function classify(failure: HttpFailure, title: string, message: string | undefined): [ErrorCode, string] {
  const { kind, status = 500 } = failure
  if (kind === 'aborted') return ['aborted', failure.message]
  if (kind === 'timeout' && failure.effect === 'none')
    return ['provider_timeout', 'The time was over before the call began.']
  if (kind === 'timeout' || status === 408) return ['provider_timeout', `${title} did not answer in time.`]
  if (status === 429) return ['provider_rate_limited', `${title} asks to slow down.`]
  const isRefusal = kind === 'status' && status < 500
  if (isRefusal && !failure.isOwnForm) {
    const sentence = `Status ${status} did not come from the provider itself; check the base URL.`
    return ['provider_error', sentence]
  }
  if (isRefusal && status !== 425) {
    const reason = message ? `: ${asSentence(message)}` : ' without a reason.'
    return ['provider_rejected', `${title} refused${reason}`]
  }
  return ['provider_error', `${title} failed: ${failure.message}`]
}

function asSentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`
}

/** The provider's faults. A single one without a field is the message itself. */
function listErrors(errors: ProviderWords['errors'] = []): ProviderWords['errors'] {
  if (errors.every(({ path }) => path === '') && errors.length <= 1) return undefined
  return errors.map((error) => ({ ...error, message: maskAddresses(error.message) }))
}
