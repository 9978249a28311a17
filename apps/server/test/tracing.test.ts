import { SpanKind, SpanStatusCode } from '@opentelemetry/api'
import { deliver } from '@org/core/testing'
import { describe, expect, it } from 'vitest'
import { createTracing } from '../src/tracing.ts'
import { calling, mail, mailDeployment, startHost } from './hosted.ts'
import { exporter, traceTests } from './traced.ts'

const parent = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' }
const traceparent = `00-${parent.traceId}-${parent.spanId}-01`
const healthCheck = { name: 'HEALTH_CHECK', deployment: { id: 'dep_1' } }

traceTests()

const spans = () => exporter.getFinishedSpans()
/** Each span as `<parent> > <name> (<kind>) !<error>`, sorted, because some begin at the same moment. */
function summary(): string[] {
  const names = new Map(spans().map((span) => [span.spanContext().spanId, `${span.name} > `]))
  return spans()
    .map(({ name, kind, status, attributes, parentSpanContext }) => {
      const above = names.get(parentSpanContext?.spanId ?? '') ?? ''
      const failure = status.code === SpanStatusCode.ERROR ? ` !${attributes['error.type']}` : ''
      return `${above}${name} (${SpanKind[kind].toLowerCase()})${failure}`
    })
    .toSorted()
}

function start() {
  const tracing = createTracing({ secrets: [] })
  const lines: Record<string, unknown>[] = []
  const logger = tracing.tag((_, message, facts) => lines.push({ message, ...facts }))
  const { world, host } = startHost({ tracing, logger })
  world.platform.addDeployment(mailDeployment('dep_1'))
  const send = (event: unknown, headers: Record<string, string> = {}) =>
    deliver(
      async (request) => {
        for (const [name, value] of Object.entries(headers)) request.headers.set(name, value)
        return host.fetch(request)
      },
      event,
      { url: 'http://host.test/mailer/webhook', id: 'evt_1' },
    )
  return { world, lines, send }
}

describe('a traced host', () => {
  it('makes one span for an event, and one below it for each attempt of a call, and marks what failed', async () => {
    const { world, send } = start()
    await send(healthCheck)
    world.mail.faults.add({ status: 503, times: 2 }, { cut: 'before' })
    await send(calling('getDeliveryStats'))
    expect(summary()).toEqual([
      'POST /mailer/webhook (server)',
      'POST /mailer/webhook (server) !provider_error',
      'POST /mailer/webhook > GET mailer (client)',
      'POST /mailer/webhook > GET mailer (client) !503',
      'POST /mailer/webhook > GET mailer (client) !503',
      'POST /mailer/webhook > GET mailer (client) !unreachable',
      'POST /mailer/webhook > GET platform (client)',
    ])
    expect(spans().at(-1)?.attributes).toMatchObject({ 'webhook.problem': 'provider_error' })
  })

  it('writes the facts of the event’s log line to its span, and the trace to the log line', async () => {
    const { send, lines } = start()
    await send(calling('sendEmail', mail))
    const span = spans().at(-1)
    expect(span?.attributes).toEqual({
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
    expect(lines.at(-1)).toMatchObject({ delivery: 'evt_1', traceId: span?.spanContext().traceId })
  })

  it('marks no refusal as a fault, and writes the redacted reason of one of the host to the span', async () => {
    const { world, send } = start()
    await send(calling('nothing'))
    expect(summary()).toEqual(['POST /mailer/webhook (server)'])
    world.overrides.set('mail.test', () => {
      throw new RangeError('Out of room for ada@example.com.')
    })
    await send(calling('sendEmail', mail))
    expect(spans().at(-1)?.status.message).toBe('RangeError: Out of room for [address].')
  })

  it('continues the sender’s trace to providers and to the platform, and keeps its baggage', async () => {
    const { world, send } = start()
    await send(healthCheck, { traceparent, baggage: 'tenant=ada' })
    expect(spans().at(-1)?.parentSpanContext).toMatchObject({ ...parent, isRemote: true })
    const clients = spans().filter(({ kind }) => kind === SpanKind.CLIENT)
    const sent = clients.map((span) => `00-${parent.traceId}-${span.spanContext().spanId}-01`)
    expect(world.sent.map(({ headers }) => headers.get('traceparent')).sort()).toEqual(sent.sort())
    expect(world.sent.filter(({ headers }) => headers.has('baggage'))).toEqual([])
  })
})
