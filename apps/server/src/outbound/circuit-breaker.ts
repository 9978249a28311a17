/**
 * Circuits: while a server fails, calls to it fail at once. There is one for each account at each origin that an
 * integration calls, so that the failing account of one deployment costs another nothing; and one for the platform.
 */
import { hash, randomUUID } from 'node:crypto'
import type { Logger } from '@org/core'
import { causeOf, type ErrorCode, IntegrationError, isIntegrationError, shortageOf } from '@org/core/errors'
import {
  BrokenCircuitError,
  type CircuitBreakerPolicy,
  CircuitState,
  circuitBreaker,
  handleWhenResult,
  type Policy,
  SamplingBreaker,
} from 'cockatiel'

/** A circuit opens when at least half of the calls of ten seconds fail, and there are twenty or more. */
const SAMPLING = { threshold: 0.5, duration: 10_000, minimumRps: 2 }
/** Then one call is let through to see whether the provider is back. */
const HALF_OPEN_AFTER_MS = 5_000
/** Calls to the platform at a time: half of the events of a host, so that the others never wait for it. */
const MOST_CALLBACKS = 250
/** Of an integration. If there are more, all begin anew. */
const MAX_CIRCUITS = 1_000
/** Headers that name an account at a provider. */
const CREDENTIAL_HEADER = /^(authorization|x-.*-token)$/i

/** In the order of `CircuitState`. */
export const circuitStates = ['closed', 'open', 'half_open']

/** A call, with the origin and the account of its circuit. */
interface CircuitCall {
  method: string
  url: string
  isProbe?: boolean | undefined
  headers: Readonly<Record<string, string>>
}

/**
 * Makes the circuits of an integration.
 *
 * @param integration names the provider in errors and in the log
 */
export function createCircuits(integration: string, logger: Logger) {
  const circuits = new Map<string, CircuitBreakerPolicy>()
  // The keys of the map must not tell a credential, not even to somebody who guesses it.
  const salt = randomUUID()

  function accountOf(headers: Readonly<Record<string, string>>): string {
    const credentials = Object.entries(headers).filter(([name]) => CREDENTIAL_HEADER.test(name))
    return hash('sha256', salt + JSON.stringify(credentials), 'base64')
  }

  function circuitOf({ url, headers }: CircuitCall): CircuitBreakerPolicy {
    const { origin } = new URL(url)
    const key = `${origin} ${accountOf(headers)}`
    const known = circuits.get(key)
    if (known) return known
    if (circuits.size === MAX_CIRCUITS) circuits.clear()
    const circuit = createCircuit(handleWhenResult(isServerError).orWhen(isProviderFailure), (state, facts) =>
      logger('warn', `A circuit to ${origin} is ${state}.`, { integration, ...facts }),
    )
    circuits.set(key, circuit)
    return circuit
  }

  return {
    /**
     * Makes a call. A read is not made while the circuit of its account is open. Changes have a gate in core, whose reads
     * pass.
     *
     * @throws {IntegrationError} `provider_error` while it is open
     */
    async run(call: CircuitCall, send: () => Promise<Response>): Promise<Response> {
      if (!isRead(call) || call.isProbe) return send()
      try {
        return await circuitOf(call).execute(send)
      } catch (cause) {
        if (!(cause instanceof BrokenCircuitError)) throw cause
        const message = 'The provider failed too often and is not called now.'
        throw new CircuitOpenError('provider_error', message, integration)
      }
    },
    /** The state of each circuit. */
    states: () => [...circuits.values()].map(({ state }) => circuitStates[state]),
  }
}

/**
 * Makes the circuit of the platform, with a limit of calls at a time. An event waits for a platform that hangs, so without
 * them these events would take the places of all others.
 */
export function createPlatformCircuit(logger: Logger) {
  let underWay = 0
  // A call that was aborted had its time: also that is a failure.
  const failure = handleWhenResult(isServerError).orWhen(
    (error) => !isIntegrationError(error) && !shortageOf(error),
  )
  const circuit = createCircuit(failure, (state, facts) =>
    logger('warn', `The circuit to the platform is ${state}.`, facts),
  )
  return {
    /** Wraps an attempt of a call. It throws `platform_unavailable` at once if the platform is not called now. */
    wrap:
      (attempt: typeof fetch): typeof fetch =>
      async (input, init) => {
        const refuse = (why: string) =>
          new CircuitOpenError('platform_unavailable', `The platform ${why}.`, 'platform')
        if (underWay === MOST_CALLBACKS) throw refuse('has too many calls under way')
        underWay += 1
        try {
          // The library would let it wait for the call that tries whether the platform is back.
          if (circuit.state === CircuitState.HalfOpen) throw new BrokenCircuitError()
          return await circuit.execute(() => attempt(input, init))
        } catch (cause) {
          if (!(cause instanceof BrokenCircuitError)) throw cause
          throw refuse('failed too often and is not called now')
        } finally {
          underWay -= 1
        }
      },
    states: () => [circuitStates[circuit.state]],
  }
}

/** @param onChange receives the new state in words, and why the last call failed */
function createCircuit(
  failure: Policy,
  onChange: (state: string | undefined, facts: { reason?: string | undefined }) => void,
): CircuitBreakerPolicy {
  let reason: string | undefined
  const breaker = new SamplingBreaker(SAMPLING)
  const circuit = circuitBreaker(failure, { halfOpenAfter: HALF_OPEN_AFTER_MS, breaker })
  circuit.onFailure(({ reason: failed }) => {
    const cause = 'error' in failed ? causeOf(failed.error) : 'it answers with an error'
    reason = cause.startsWith('AbortError') ? 'it does not answer in time' : cause
  })
  circuit.onStateChange((state) =>
    onChange(CircuitState[state], state === CircuitState.Open ? { reason } : {}),
  )
  return circuit
}

/** Whether a call changes nothing. */
export function isRead({ method }: { method: string }): boolean {
  return method === 'GET' || method === 'HEAD'
}

/** Recognises a response by its shape: the HTTP server of the Node host replaces the global `Response`. */
function isServerError(result: unknown): boolean {
  return typeof result === 'object' && result !== null && 'status' in result && Number(result.status) >= 500
}

/** The host's own errors and shortages, such as a lost lease, are no failures of the provider. */
function isProviderFailure(error: unknown): boolean {
  const isAborted = error instanceof Error && error.name === 'AbortError'
  return !isAborted && !isIntegrationError(error) && shortageOf(error) === undefined
}

/** A call was not made because its circuit is open. */
export class CircuitOpenError extends IntegrationError {
  constructor(code: ErrorCode, message: string, provider: string) {
    super(code, message, { retryAfter: HALF_OPEN_AFTER_MS / 1000, provider: { name: provider } })
  }
}
