/**
 * A circuit for each origin that an integration calls: while a provider is down, calls to it fail at once.
 *
 * @module
 */
import { IntegrationError, isIntegrationError, type Logger } from '@org/core'
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
/** The oldest circuit gives way to a new one. */
const MAX_ORIGINS = 1_000

/** The states of a circuit. */
export const circuitStates = ['closed', 'open', 'half_open'] as const
type CircuitStateName = (typeof circuitStates)[number]

/** The circuits of one integration. */
export type Circuits = ReturnType<typeof createCircuits>

/**
 * Makes the circuits of an integration.
 *
 * @param integration names the provider in errors and in the log
 */
export function createCircuits(integration: string, logger: Logger) {
  const circuits = new Map<string, CircuitBreakerPolicy>()

  function circuitOf(origin: string): CircuitBreakerPolicy {
    const known = circuits.get(origin)
    if (known) return known
    const [oldest] = circuits.keys()
    if (circuits.size >= MAX_ORIGINS && oldest !== undefined) circuits.delete(oldest)
    const circuit = circuitBreaker(handleWhenResult(isServerError).orWhen(isProviderFailure), {
      halfOpenAfter: HALF_OPEN_AFTER_MS,
      breaker: new SamplingBreaker(SAMPLING),
    })
    circuit.onStateChange((state) =>
      logger('warn', `The circuit to ${origin} is ${CircuitState[state]}.`, { integration }),
    )
    circuits.set(origin, circuit)
    return circuit
  }

  return {
    /**
     * Makes a call unless the circuit of its origin is open.
     *
     * @throws {IntegrationError} `provider_error` while it is open
     */
    async run(origin: string, call: () => Promise<Response>): Promise<Response> {
      try {
        return await circuitOf(origin).execute(call)
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
    states: () =>
      [...circuits.values()].map(({ state }): CircuitStateName => {
        if (state === CircuitState.Closed) return 'closed'
        return state === CircuitState.HalfOpen ? 'half_open' : 'open'
      }),
  }
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
