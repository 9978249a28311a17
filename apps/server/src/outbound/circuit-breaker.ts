/**
 * A circuit for each account at each origin that an integration calls: while it fails, calls to it fail at once. The
 * failing account of one deployment costs another nothing.
 */
import { hash, randomUUID } from 'node:crypto'
import type { Logger } from '@org/core'
import { IntegrationError, isIntegrationError } from '@org/core/errors'
import {
  BrokenCircuitError,
  type CircuitBreakerPolicy,
  CircuitState,
  circuitBreaker,
  handleWhenResult,
  SamplingBreaker,
} from 'cockatiel'

/** A circuit opens when at least half of the calls of ten seconds fail, and there are twenty or more. */
const SAMPLING = { threshold: 0.5, duration: 10_000, minimumRps: 2 }
/** Then one call is let through to see whether the provider is back. */
const HALF_OPEN_AFTER_MS = 5_000
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

/** The circuits of one integration. */
export type Circuits = ReturnType<typeof createCircuits>

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
    const circuit = circuitBreaker(handleWhenResult(isServerError).orWhen(isProviderFailure), {
      halfOpenAfter: HALF_OPEN_AFTER_MS,
      breaker: new SamplingBreaker(SAMPLING),
    })
    circuit.onStateChange((state) =>
      logger('warn', `A circuit to ${origin} is ${CircuitState[state]}.`, { integration }),
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
        throw new IntegrationError('provider_error', 'The provider failed too often and is not called now.', {
          retryAfter: HALF_OPEN_AFTER_MS / 1000,
          provider: { name: integration },
          cause,
        })
      }
    },
    /** The state of each circuit. */
    states: () => [...circuits.values()].map(({ state }) => circuitStates[state]),
  }
}

/** Whether a call changes nothing. */
export function isRead({ method }: { method: string }): boolean {
  return method === 'GET' || method === 'HEAD'
}

/** Recognises a response by its shape: the HTTP server of the Node host replaces the global `Response`. */
function isServerError(result: unknown): boolean {
  return typeof result === 'object' && result !== null && 'status' in result && Number(result.status) >= 500
}

/** The host's own errors, such as a lost lease, are no failures of the provider. */
function isProviderFailure(error: unknown): boolean {
  return !(error instanceof Error && error.name === 'AbortError') && !isIntegrationError(error)
}

/** Whether a call was not made because its circuit is open. */
export function isCircuitOpen(error: unknown): boolean {
  return error instanceof Error && error.cause instanceof BrokenCircuitError
}
