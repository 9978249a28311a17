/**
 * How metrics and traces watch a host.
 *
 * @module
 */
import { isIntegrationError, type Logger, type Observer } from '@org/core'
import { isCircuitOpen } from './circuit-breaker.ts'
import type { Config } from './config.ts'
import type { Tracing } from './tracing.ts'

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

/** Traces around metrics, as one observer. */
export function observeBy(
  tracing: Tracing | undefined,
  metrics: Required<Pick<HostObserver, 'answered' | 'call'>> | undefined,
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

/** Where `@opentelemetry/api` keeps what a process registers, whichever copy of it does. */
const REGISTERED = Symbol.for('opentelemetry.js.api.1')

/**
 * Makes the traces of a host whose process registered an OpenTelemetry SDK before: see docs/signals.md.
 *
 * @returns `undefined` without an SDK; then nothing of OpenTelemetry is loaded for traces
 */
export async function loadTracing(
  config: Pick<Config, 'secrets'>,
  logger: Logger,
): Promise<Tracing | undefined> {
  if (!(REGISTERED in globalThis)) return undefined
  const { createTracing, passesContextOn } = await import('./tracing.ts')
  if (passesContextOn()) return createTracing(config)
  logger(
    'warn',
    'There will be no traces: the OpenTelemetry SDK was registered without a context manager, or with an @opentelemetry/api older than 1.9.',
  )
  return undefined
}
