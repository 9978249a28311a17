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

/** It opens where at least half of the calls within ten seconds failed, and there were some twenty of them. */
const SAMPLING = { threshold: 0.5, duration: 10_000, minimumRps: 2 }
const HALF_OPEN_AFTER_MS = 5_000
/** Origins that are remembered; the oldest gives way. */
const MAX_ORIGINS = 1_000

/**
 * A `fetch` with a circuit breaker for each origin.
 *
 * @param name the integration whose provider it is, for the log
 */
export function withBreaker(send: typeof fetch, name: string, logger: Logger): typeof fetch {
  const breakers = new Map<string, CircuitBreakerPolicy>()

  function breakerOf(origin: string): CircuitBreakerPolicy {
    const known = breakers.get(origin)
    if (known) return known
    const [oldest] = breakers.keys()
    if (breakers.size >= MAX_ORIGINS && oldest !== undefined) breakers.delete(oldest)
    const failed = handleWhenResult((result) => result instanceof Response && result.status >= 500).orWhen(
      (error) => !(error instanceof Error && error.name === 'AbortError'),
    )
    const breaker = circuitBreaker(failed, {
      halfOpenAfter: HALF_OPEN_AFTER_MS,
      breaker: new SamplingBreaker(SAMPLING),
    })
    breaker.onStateChange((state) =>
      logger('warn', `The circuit to ${origin} is ${CircuitState[state]}.`, { integration: name }),
    )
    breakers.set(origin, breaker)
    return breaker
  }

  return async (input, init) => {
    const request = new Request(input, init)
    const { origin } = new URL(request.url)
    try {
      return await breakerOf(origin).execute(() => send(request))
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
