/**
 * A host between emulators, in a process with an OpenTelemetry SDK.
 */
import { context, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { CompositePropagator, W3CBaggagePropagator, W3CTraceContextPropagator } from '@opentelemetry/core'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base'

const exporter = new InMemorySpanExporter()

/** Registers the SDK, as `--import` does before the host starts. */
export function registerSdk(): void {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  propagation.setGlobalPropagator(
    new CompositePropagator({ propagators: [new W3CTraceContextPropagator(), new W3CBaggagePropagator()] }),
  )
  trace.setGlobalTracerProvider(
    new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }),
  )
}

export function unregisterSdk(): void {
  trace.disable()
  propagation.disable()
  context.disable()
}

/** Runs work in the span of an instrumentation that watches all of HTTP. */
export function inRequestSpan<Result>(work: () => Promise<Result>): Promise<Result> {
  return trace.getTracer('http').startActiveSpan('POST', { kind: SpanKind.SERVER }, async (span) => {
    try {
      return await work()
    } finally {
      span.end()
    }
  })
}

/** The spans that have ended, which are then forgotten. */
export function takeSpans(): ReadableSpan[] {
  const spans = exporter.getFinishedSpans()
  exporter.reset()
  return [...spans]
}

/**
 * The spans below one, as lines with an indent for each level; those of one level by their names, because some
 * begin at the same moment.
 */
export function toTree(spans: readonly ReadableSpan[], parent?: string, indent = ''): string[] {
  const ids = new Set(spans.map((span) => span.spanContext().spanId))
  return spans
    .filter(({ parentSpanContext }) =>
      parent === undefined ? !ids.has(parentSpanContext?.spanId ?? '') : parentSpanContext?.spanId === parent,
    )
    .sort((one, other) => one.name.localeCompare(other.name))
    .flatMap((span) => [indent + describe(span), ...toTree(spans, span.spanContext().spanId, `${indent}  `)])
}

/** `POST mailer (client) !503`: its name, its kind where it has one, and of a failure its type. */
function describe({ name, kind, status, attributes }: ReadableSpan): string {
  const kinds = kind === SpanKind.INTERNAL ? '' : ` (${SpanKind[kind].toLowerCase()})`
  const failure = status.code === SpanStatusCode.ERROR ? ` !${attributes['error.type']}` : ''
  return name + kinds + failure
}
