/** How metrics and traces watch a host. */
import type { Observer } from '@org/core'
import { isIntegrationError } from '@org/core/errors'
import { HttpFailure } from '@org/core/http'
import { isCircuitOpen } from './outbound/circuit-breaker.ts'

/** Metrics observe outbound calls, and events when they are answered. */
export type MetricsObserver = Required<Pick<Observer, 'answered' | 'call'>>

/** Traces around metrics, as one observer. */
export function observeBy(
  tracing: Required<Observer> | undefined,
  metrics: MetricsObserver | undefined,
): Observer | undefined {
  if (!tracing || !metrics) return tracing ?? metrics
  return {
    ...tracing,
    call: (call, send) => tracing.call(call, () => metrics.call(call, send)),
    answered(record) {
      tracing.answered(record)
      metrics.answered(record)
    },
  }
}

/** Why a call failed: the code of the host's own error, or what happened to the connection or the response. */
export function failureOf(error: unknown): string {
  if (isCircuitOpen(error)) return 'circuit_open'
  if (isIntegrationError(error)) return error.code
  // The platform's: a success that is not JSON, or too long.
  if (error instanceof HttpFailure) return error.kind
  if (error instanceof Error && error.name === 'TimeoutError') return 'timeout'
  if (error instanceof Error && error.name === 'AbortError') return 'aborted'
  return 'unreachable'
}
