/**
 * What a host does as a tree of OpenTelemetry spans: an event, the steps of its work, and each call below them.
 *
 * Of an event, a span says what its line in the log says. Beside that there are only names that the host itself
 * knows, statuses, and hosts that were called: no path, no query, no body, and no error's own words.
 *
 * @module
 */
import {
  type Attributes,
  context,
  createContextKey,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api'
import { type EventRecord, type Logger } from '@org/core'
import { createRedactor } from '@org/core/internal'
import packageJson from '../package.json' with { type: 'json' }
import { type Call, failureOf, type HttpCall, type Onlooker } from './onlooker.ts'

/** The traces of a host. */
export interface Tracing extends Onlooker {
  /** A logger whose lines name the trace that they belong to. */
  tag(logger: Logger): Logger
  /** Sends the spans that the SDK still holds, where it can be asked to. */
  flush(): Promise<void>
}

const METHODS: readonly string[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

const headerNames = {
  get: (headers: Headers, name: string) => headers.get(name) ?? undefined,
  keys: (headers: Headers) => [...headers.keys()],
}

/**
 * Whether what is registered can be seen from here, and hands a context on: otherwise every span would stand
 * alone. It can't be seen by a copy of `@opentelemetry/api` that is newer than the one that registered it.
 */
export function seesContext(): boolean {
  const probe = createContextKey('probe')
  return context.with(ROOT_CONTEXT.setValue(probe, true), () => context.active().getValue(probe) === true)
}

/** Makes the traces; they go wherever the process's SDK sends them. */
export function createTracing({ secrets }: { secrets: readonly string[] }): Tracing {
  const tracer = trace.getTracer('@org/server', packageJson.version)
  const clean = createRedactor(secrets)

  /** Runs work in a span, and marks it where the work fails. */
  function inSpan<Result>(
    name: string,
    { kind = SpanKind.INTERNAL, attributes }: { kind?: SpanKind; attributes?: Attributes },
    work: (span: Span) => Promise<Result>,
    parent = context.active(),
  ): Promise<Result> {
    return tracer.startActiveSpan(name, { kind, ...(attributes && { attributes }) }, parent, async (span) => {
      try {
        return await work(span)
      } catch (error) {
        span.setStatus({ code: SpanStatusCode.ERROR }).setAttribute('error.type', failureOf(error))
        throw error
      } finally {
        span.end()
      }
    })
  }

  /** A call over HTTP: named by its method and whom it goes to, as paths hold ids. */
  function request<Result>(
    to: string,
    { method, url, headers }: HttpCall,
    work: () => Promise<Result>,
  ): Promise<Result> {
    const { hostname, port } = new URL(url)
    const attributes = {
      'http.request.method': methodOf(method),
      'server.address': clean.text(hostname),
      ...(port === '' ? {} : { 'server.port': Number(port) }),
      'webhook.callee': to,
    }
    return inSpan(`${methodOf(method)} ${to}`, { kind: SpanKind.CLIENT, attributes }, async (span) => {
      // What else travels with a trace is nobody's business outside of it.
      propagation.inject(propagation.deleteBaggage(context.active()), headers)
      const result = await work()
      if (result instanceof Response) markStatus(span, result.status)
      return result
    })
  }

  function call<Result>(
    made: Call,
    work: () => Promise<Result>,
    outcomeOf: (result: Result) => string,
  ): Promise<Result> {
    if (made.to === 'provider') return request(made.integration, made, work)
    if (made.to === 'platform-api') return request('platform', made, work)
    const name = made.to === 'platform' ? made.callback : STORE_SPANS[made.operation]
    return inSpan(name, {}, async (span) => {
      if (made.to === 'store' && made.steps) span.setAttribute('webhook.steps', [...made.steps])
      const result = await work()
      span.setAttribute('webhook.outcome', outcomeOf(result))
      return result
    })
  }

  return {
    call,
    step: (name, work) => inSpan(name, {}, work),

    webhook(route, { method, headers }, work) {
      const active = context.active()
      // Something of the process that watches all of HTTP may have begun a span already.
      const inside = trace.getSpan(active) !== undefined
      const parent = inside ? active : propagation.extract(active, headers, headerNames)
      const path = `/${route}/webhook`
      const attributes = { 'http.request.method': methodOf(method), 'http.route': path }
      const kind = inside ? SpanKind.INTERNAL : SpanKind.SERVER
      return inSpan(
        `${methodOf(method)} ${path}`,
        { kind, attributes },
        async (span) => {
          const response = await work()
          span.setAttribute('http.response.status_code', response.status)
          return response
        },
        parent,
      )
    },

    answered(record) {
      const span = trace.getActiveSpan()
      if (!span?.isRecording()) return
      span.setAttributes(attributesOf(record))
      // Of a server, a refusal is no fault; an effect of which nobody knows is one, whatever its status.
      if (record.status >= 500 || record.code === 'outcome_unknown') markFault(span, record)
    },

    tag: (logger) => (level, message, facts) => {
      const traceId = trace.getActiveSpan()?.spanContext().traceId
      logger(level, message, traceId === undefined ? facts : { ...facts, traceId })
    },

    async flush() {
      const provider: unknown = callIn(trace.getTracerProvider(), 'getDelegate')
      await callIn(provider, 'forceFlush')
    },
  }
}

/** Calls a method of what may not have it: the API does not say what a provider can do beside making tracers. */
function callIn(given: unknown, method: string): unknown {
  const found: unknown = typeof given === 'object' && given !== null ? Reflect.get(given, method) : undefined
  return typeof found === 'function' ? found.call(given) : undefined
}

const STORE_SPANS = {
  claim: 'claim',
  renew: 'renew claim',
  advance: 'record step',
  complete: 'record answer',
  release: 'release claim',
  read: 'read record',
} as const

function methodOf(method: string): string {
  return METHODS.includes(method) ? method : '_OTHER'
}

function markStatus(span: Span, status: number): void {
  span.setAttribute('http.response.status_code', status)
  if (status < 400) return
  span.setAttribute('error.type', String(status))
  span.setStatus({ code: SpanStatusCode.ERROR })
}

function attributesOf(record: EventRecord): Attributes {
  return {
    'webhook.event': record.event,
    'webhook.function': record.function,
    'webhook.deployment': record.deployment,
    'webhook.outcome': record.outcome,
    'webhook.problem': record.code,
    'webhook.provider_calls': record.providerCalls,
    'messaging.operation.type': 'process',
    'messaging.message.id': record.delivery,
  }
}

function markFault(span: Span, { code, reason }: EventRecord): void {
  if (code !== undefined) span.setAttribute('error.type', code)
  // What the log says of a fault, which was cleaned for it.
  span.setStatus({ code: SpanStatusCode.ERROR, ...(reason === undefined ? {} : { message: reason }) })
}
