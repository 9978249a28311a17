import { SpanKind, SpanStatusCode } from '@opentelemetry/api'
import { deliver } from '@org/core/testing'
import { expect, it, vi } from 'vitest'
import { createTracing } from '../src/tracing.ts'
import { calling, mail, mailDeployment, startHost } from './hosted.ts'
import { exporter, traceTests } from './traced.ts'

traceTests()

const spans = () => exporter.getFinishedSpans()

function start() {
  const tracing = createTracing({ secrets: [] })
  const log = vi.fn()
  const { world, host } = startHost({ tracing, logger: tracing.tag(log) })
  world.platform.addDeployment(mailDeployment('dep_1'))
  const send = (event: unknown, headers: Record<string, string> = {}) => {
    const handle = async (request: Request) => {
      for (const [name, value] of Object.entries(headers)) request.headers.set(name, value)
      return host.fetch(request)
    }
    return deliver(handle, event, { url: 'http://host.test/mailer/webhook', id: 'evt_1' })
  }
  return { world, log, send }
}
const healthCheck = { name: 'HEALTH_CHECK', deployment: { id: 'dep_1' } }

it('an event has a span, each attempt of a call one below it, and what failed is marked', async () => {
  const { world, send } = start()
  await send(healthCheck)
  world.mail.faults.add({ status: 503, times: 2 }, { cut: 'before' })
  await send(calling('getDeliveryStats'))
  const names = new Map(spans().map((span) => [span.spanContext().spanId, `${span.name} > `]))
  const summary = spans().map(({ name, kind, status, attributes, parentSpanContext }) => {
    const failure = status.code === SpanStatusCode.ERROR ? ` !${attributes['error.type']}` : ''
    return `${names.get(parentSpanContext?.spanId ?? '') ?? ''}${name} (${SpanKind[kind]})${failure}`
  })
  // Some begin at the same moment.
  expect(summary.toSorted()).toEqual([
    'POST /mailer/webhook (SERVER)',
    'POST /mailer/webhook (SERVER) !provider_error',
    'POST /mailer/webhook > GET mailer (CLIENT)',
    'POST /mailer/webhook > GET mailer (CLIENT) !503',
    'POST /mailer/webhook > GET mailer (CLIENT) !503',
    'POST /mailer/webhook > GET mailer (CLIENT) !unreachable',
    'POST /mailer/webhook > GET platform (CLIENT)',
  ])
  expect(spans().at(-1)?.attributes).toMatchObject({ 'webhook.problem': 'provider_error' })
})

it('the span of an event has the facts of its log line, and the log line has the trace', async () => {
  const { send, log } = start()
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
  const { traceId } = span?.spanContext() ?? {}
  expect(log.mock.lastCall?.[2]).toMatchObject({ delivery: 'evt_1', traceId })
})

it('a refusal is no fault, and a fault of the host has its redacted reason', async () => {
  const { world, send } = start()
  await send(calling('nothing'))
  expect(spans().map(({ status }) => status.code)).toEqual([SpanStatusCode.UNSET])
  world.overrides.set('mail.test', () => {
    throw new RangeError('Out of room for ada@example.com.')
  })
  await send(calling('sendEmail', mail))
  expect(spans().at(-1)?.status.message).toBe('RangeError: Out of room for [address]. (mail.test)')
})

it('the sender’s trace goes on to providers and to the platform, and its baggage does not', async () => {
  const { world, send } = start()
  const parent = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' }
  const toHeader = (spanId: string) => `00-${parent.traceId}-${spanId}-01`
  await send(healthCheck, { traceparent: toHeader(parent.spanId), baggage: 'tenant=ada' })
  expect(spans().at(-1)?.parentSpanContext).toMatchObject({ ...parent, isRemote: true })
  const clients = spans().filter(({ kind }) => kind === SpanKind.CLIENT)
  const sent = clients.map((span) => toHeader(span.spanContext().spanId))
  expect(world.sent.map(({ headers }) => headers.get('traceparent')).sort()).toEqual(sent.sort())
  expect(world.sent.filter(({ headers }) => headers.has('baggage'))).toEqual([])
})
