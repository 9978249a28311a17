import { SpanKind, SpanStatusCode } from '@opentelemetry/api'
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base'
import { deliver } from '@org/core/testing'
import { describe, expect, it } from 'vitest'
import { createTracing } from '../src/tracing.ts'
import { calling, mail, mailDeployment, startHost } from './hosted.ts'
import { exporter, traceTests } from './traced.ts'

const parent = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' }
const traceparent = `00-${parent.traceId}-${parent.spanId}-01`

/** Each span as `<parent> > <name> (<kind>) !<error>`, sorted, because some begin at the same moment. */
function summarize(spans: readonly ReadableSpan[]): string[] {
  const names = new Map(spans.map((span) => [span.spanContext().spanId, `${span.name} > `]))
  return spans
    .map(({ name, kind, status, attributes, parentSpanContext }) => {
      const above = names.get(parentSpanContext?.spanId ?? '') ?? ''
      const failure = status.code === SpanStatusCode.ERROR ? ` !${attributes['error.type']}` : ''
      return `${above}${name} (${SpanKind[kind].toLowerCase()})${failure}`
    })
    .toSorted()
}

traceTests()

const spans = () => exporter.getFinishedSpans()
const lastSpan = () => spans().at(-1)

function startTraced() {
  const tracing = createTracing({ secrets: [] })
  const lines: Record<string, unknown>[] = []
  const logger = tracing.tag((_, message, facts) => lines.push({ message, ...facts }))
  const { world, host } = startHost({ tracing, logger })
  world.platform.addDeployment(mailDeployment('dep_1'))
  const send = (route: string, event: unknown, id?: string, headers: Record<string, string> = {}) =>
    deliver(
      async (request) => {
        for (const [name, value] of Object.entries(headers)) request.headers.set(name, value)
        return host.fetch(request)
      },
      event,
      { url: `http://host.test/${route}/webhook`, id },
    )
  return { world, lines, send }
}

const healthCheck = { name: 'HEALTH_CHECK', deployment: { id: 'dep_1' } }

describe('a traced host', () => {
  it('makes one span for an event, and one for each outbound call below it', async () => {
    await startTraced().send('mailer', healthCheck)
    expect(summarize(spans())).toEqual([
      'POST /mailer/webhook (server)',
      'POST /mailer/webhook > GET mailer (client)',
      'POST /mailer/webhook > GET platform (client)',
    ])
  })

  it('makes one span for each attempt, and marks what failed', async () => {
    const { world, send } = startTraced()
    world.mail.faults.add({ status: 503, times: 2 }, { cut: 'before' })
    await send('mailer', calling('getDeliveryStats'))
    expect(summarize(spans())).toEqual([
      'POST /mailer/webhook (server) !provider_error',
      'POST /mailer/webhook > GET mailer (client) !503',
      'POST /mailer/webhook > GET mailer (client) !503',
      'POST /mailer/webhook > GET mailer (client) !unreachable',
    ])
    expect(lastSpan()?.attributes).toMatchObject({ 'webhook.problem': 'provider_error' })
  })

  it('writes the facts of the event’s log line to its span, and the trace to the log line', async () => {
    const { send, lines } = startTraced()
    await send('mailer', calling('sendEmail', mail), 'evt_1')
    expect(lastSpan()?.attributes).toEqual({
      'http.request.method': 'POST',
      'http.route': '/mailer/webhook',
      'http.response.status_code': 200,
      'messaging.operation.type': 'process',
      'messaging.message.id': 'evt_1',
      'webhook.event': 'FUNCTION_CALL',
      'webhook.function': 'sendEmail',
      'webhook.outcome': 'ok',
      'webhook.provider_calls': 1,
    })
    expect(lines.at(-1)).toMatchObject({ delivery: 'evt_1', traceId: lastSpan()?.spanContext().traceId })
  })

  it('marks no refusal as a fault of the host', async () => {
    await startTraced().send('mailer', calling('nothing'))
    expect(summarize(spans())).toEqual(['POST /mailer/webhook (server)'])
  })

  it('writes the redacted reason of its own fault to the span', async () => {
    const { world, send } = startTraced()
    world.overrides.set('mail.test', () => {
      throw new RangeError('Out of room for ada@example.com.')
    })
    await send('mailer', calling('sendEmail', mail))
    expect(lastSpan()?.status.message).toBe('RangeError: Out of room for [address].')
  })

  it('continues the sender’s trace to providers and to the platform, and keeps its baggage', async () => {
    const { world, send } = startTraced()
    await send('mailer', healthCheck, 'evt_1', { traceparent, baggage: 'tenant=ada' })
    expect(lastSpan()?.parentSpanContext).toMatchObject({ ...parent, isRemote: true })
    const clients = spans()
      .filter(({ kind }) => kind === SpanKind.CLIENT)
      .map((span) => `00-${parent.traceId}-${span.spanContext().spanId}-01`)
    expect(world.sent.map(({ headers }) => headers.get('traceparent')).sort()).toEqual(clients.sort())
    expect(world.sent.filter(({ headers }) => headers.has('baggage'))).toEqual([])
  })
})
