/**
 * One OpenTelemetry span for each event, and one for each outbound call. They hold only names that the host knows,
 * statuses, the facts of the event's log line, and hosts: no path, query, body or message of an error.
 */
import {
  type Attributes,
  context,
  propagation,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api'
import type { Logger, Observer } from '@org/core'
import { createRedactor } from '@org/core/internal/host'
import { failureOf } from './telemetry.ts'
import { version } from './version.ts'

/** The traces of a host. */
export interface Tracing extends Required<Observer> {
  /** A logger whose lines name the trace that they belong to. */
  tag(logger: Logger): Logger
  /** Sends the spans that the SDK still holds, if the SDK can do that. */
  flush(): Promise<void>
}

const headerNames = {
  get: (headers: Headers, name: string) => headers.get(name) ?? undefined,
  keys: (headers: Headers) => [...headers.keys()],
}

/** Makes the traces. They go wherever the SDK of the process sends them. */
export function createTracing({ secrets }: { secrets: readonly string[] }): Tracing {
  const tracer = trace.getTracer('@org/server', version)
  const redactor = createRedactor(secrets)

  function inSpan(
    name: string,
    kind: SpanKind,
    attributes: Attributes,
    work: (span: Span) => Promise<Response>,
    parent = context.active(),
  ): Promise<Response> {
    return tracer.startActiveSpan(name, { kind, attributes }, parent, async (span) => {
      try {
        const response = await work(span)
        span.setAttribute('http.response.status_code', response.status)
        return response
      } catch (error) {
        span.setStatus({ code: SpanStatusCode.ERROR }).setAttribute('error.type', failureOf(error))
        throw error
      } finally {
        span.end()
      }
    })
  }

  return {
    event(route, { method, headers }, handle) {
      const path = `/${route}/webhook`
      return inSpan(
        `${method} ${path}`,
        SpanKind.SERVER,
        { 'http.request.method': method, 'http.route': path },
        handle,
        propagation.extract(context.active(), headers, headerNames),
      )
    },

    call({ to, route, method, url, headers }, send) {
      const { hostname, port } = new URL(url)
      const callee = to === 'platform' ? to : route
      const attributes = {
        'http.request.method': method,
        'server.address': redactor.text(hostname),
        ...(port === '' ? {} : { 'server.port': Number(port) }),
        'webhook.callee': callee,
      }
      return inSpan(`${method} ${callee}`, SpanKind.CLIENT, attributes, async (span) => {
        // Baggage is not passed on.
        propagation.inject(propagation.deleteBaggage(context.active()), headers)
        const response = await send()
        if (response.status >= 400) {
          span.setStatus({ code: SpanStatusCode.ERROR }).setAttribute('error.type', String(response.status))
        }
        return response
      })
    },

    answered(record) {
      const span = trace.getActiveSpan()
      if (!span?.isRecording()) return
      span.setAttributes({
        'webhook.event': record.event,
        'webhook.function': record.function,
        'webhook.deployment': record.deployment,
        'webhook.outcome': record.outcome,
        'webhook.problem': record.code,
        'webhook.provider_calls': record.providerCalls,
        'messaging.operation.type': 'process',
        'messaging.message.id': record.delivery,
      })
      // A refusal is no fault of a server; an effect that may have happened is one, whatever its status.
      if (record.status < 500 && record.code !== 'outcome_unknown') return
      if (record.code !== undefined) span.setAttribute('error.type', record.code)
      const { reason: message } = record
      span.setStatus({ code: SpanStatusCode.ERROR, ...(message === undefined ? {} : { message }) })
    },

    tag: (logger) => (level, message, facts) => {
      const traceId = trace.getActiveSpan()?.spanContext().traceId
      logger(level, message, traceId === undefined ? facts : { ...facts, traceId })
    },

    async flush() {
      const provider: unknown = callMethod(trace.getTracerProvider(), 'getDelegate')
      await callMethod(provider, 'forceFlush')
    },
  }
}

/** Calls a method that the API does not declare, if the SDK has it. */
function callMethod(target: unknown, name: string): unknown {
  const method: unknown = Reflect.get(Object(target), name)
  return typeof method === 'function' ? method.call(target) : undefined
}
