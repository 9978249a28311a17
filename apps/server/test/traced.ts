/** An OpenTelemetry SDK that keeps its spans. */
import { context, propagation, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { CompositePropagator, W3CBaggagePropagator, W3CTraceContextPropagator } from '@opentelemetry/core'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { afterAll, beforeAll, beforeEach, vi } from 'vitest'

export const exporter = new InMemorySpanExporter()

/** Registers the SDK for the tests of a file, each without the spans of the one before. */
export function traceTests(): void {
  beforeAll(() => {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
    const propagators = [new W3CTraceContextPropagator(), new W3CBaggagePropagator()]
    propagation.setGlobalPropagator(new CompositePropagator({ propagators }))
    const spanProcessors = [new SimpleSpanProcessor(exporter)]
    trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors }))
    // The pause before a retry is random, up to a limit: this makes it none. The ids of spans are random, too.
    let drawn = 0
    vi.spyOn(Math, 'random').mockImplementation(() => {
      drawn += 1
      return drawn / 1e9
    })
  })
  afterAll(() => {
    vi.restoreAllMocks()
    for (const api of [trace, propagation, context]) api.disable()
  })
  beforeEach(() => exporter.reset())
}
