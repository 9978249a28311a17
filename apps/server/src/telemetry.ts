/**
 * How metrics and traces watch a host.
 *
 * @module
 */
import { isIntegrationError, type Observer } from '@org/core'
import { isCircuitOpen } from './circuit-breaker.ts'

/** An HTTP call that is about to leave. */
export interface OutboundCall {
  to: 'provider' | 'platform'
  /** The integration; empty for calls to the platform. */
  route: string
  method: string
  url: string
  /** An observer may add headers before it sends, such as `traceparent`. */
  headers: Record<string, string>
}

/** Watches a host. It passes on whatever comes of the work, and must not throw by itself. */
export interface HostObserver extends Pick<Observer, 'answered'> {
  /** Wraps one event, from the request to the response. */
  event?(route: string, request: Request, handle: () => Promise<Response>): Promise<Response>
  /** Wraps one try of an outbound call, until the head of its response. */
  call?(call: OutboundCall, send: () => Promise<Response>): Promise<Response>
}

/** Metrics observe outbound calls, and events when they are answered. */
export type MetricsObserver = Required<Pick<HostObserver, 'answered' | 'call'>>

/** Traces around metrics, as one observer. */
export function observeBy(
  tracing: Required<HostObserver> | undefined,
  metrics: MetricsObserver | undefined,
): HostObserver | undefined {
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

/** Why a call has no response: the code of the host's own error, or what happened to the connection. */
export function failureOf(error: unknown): string {
  if (isCircuitOpen(error)) return 'circuit_open'
  if (isIntegrationError(error)) return error.code
  if (error instanceof Error && error.name === 'TimeoutError') return 'timeout'
  if (error instanceof Error && error.name === 'AbortError') return 'aborted'
  return 'unreachable'
}
