/**
 * Keeps a provider that is down from costing anything: after enough failures in a row its calls fail at once,
 * until one of them is let through to see whether it is back.
 *
 * @module
 */
import { IntegrationError, type Logger } from '@org/core'
import {
  BrokenCircuitError,
  type CircuitBreakerPolicy,
  CircuitState,
  circuitBreaker,
  handleWhenResult,
  SamplingBreaker,
} from 'cockatiel'
import { isRequest } from './dispatch.ts'

/** It opens where at least half of the calls within ten seconds failed, and there were some twenty of them. */
const SAMPLING = { threshold: 0.5, duration: 10_000, minimumRps: 2 }
const HALF_OPEN_AFTER_MS = 5_000
/** Origins that are remembered; the oldest gives way. */
const MAX_ORIGINS = 1_000

/** The circuits that a `fetch` has made, by origin. */
export type Circuits = Map<string, CircuitBreakerPolicy>

/** How many circuits let through all calls, none, or one to see whether the provider is back. */
export type CircuitCounts = Record<'closed' | 'open' | 'half_open', number>

/**
 * A `fetch` with a circuit breaker for each origin.
 *
 * @param name the integration whose provider it is, for the log
 * @param circuits is filled with what is made, for who wants to count them
 */
export function withBreaker(
  send: typeof fetch,
  name: string,
  logger: Logger,
  circuits: Circuits = new Map(),
): typeof fetch {
  function breakerOf(origin: string): CircuitBreakerPolicy {
    const known = circuits.get(origin)
    if (known) return known
    const [oldest] = circuits.keys()
    if (circuits.size >= MAX_ORIGINS && oldest !== undefined) circuits.delete(oldest)
    const failed = handleWhenResult(isServerError).orWhen(
      (error) => !(error instanceof Error && error.name === 'AbortError'),
    )
    const breaker = circuitBreaker(failed, {
      halfOpenAfter: HALF_OPEN_AFTER_MS,
      breaker: new SamplingBreaker(SAMPLING),
    })
    breaker.onStateChange((state) =>
      logger('warn', `The circuit to ${origin} is ${CircuitState[state]}.`, { integration: name }),
    )
    circuits.set(origin, breaker)
    return breaker
  }

  return async (input, init) => {
    const { origin } = new URL(isRequest(input) ? input.url : input)
    try {
      return await breakerOf(origin).execute(() => send(input, init))
    } catch (error) {
      if (!(error instanceof BrokenCircuitError)) throw error
      throw new IntegrationError(
        'provider_error',
        'The provider has failed too often just now, so it is not called.',
        {
          retryAfter: HALF_OPEN_AFTER_MS / 1000,
          provider: { name },
          cause: error,
        },
      )
    }
  }
}

/** Told by its shape, because the global `Response` is replaced in Node hosts. */
function isServerError(result: unknown): boolean {
  return typeof result === 'object' && result !== null && 'status' in result && Number(result.status) >= 500
}

/** Counts circuits by their state. */
export function countCircuits(...all: readonly Circuits[]): CircuitCounts {
  const counts = { closed: 0, open: 0, half_open: 0 }
  for (const circuits of all) for (const { state } of circuits.values()) counts[nameOf(state)] += 1
  return counts
}

function nameOf(state: CircuitState): keyof CircuitCounts {
  if (state === CircuitState.Closed) return 'closed'
  return state === CircuitState.HalfOpen ? 'half_open' : 'open'
}

/** Whether a call was not made because its circuit is open. */
export function isCircuitOpen(error: unknown): boolean {
  return error instanceof Error && error.cause instanceof BrokenCircuitError
}
