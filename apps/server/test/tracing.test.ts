import { context } from '@opentelemetry/api'
import { deliver } from '@org/core/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { loadTracing } from '../src/runtimes/load-tracing.ts'
import { createTracing } from '../src/tracing.ts'
import { findCanaries } from './canary.ts'
import { createWorld, credentials } from './hosted.ts'
import { calling, mail, mailDeployment } from './measured.ts'
import { inRequestSpan, registerSdk, takeSpans, toTree, unregisterSdk } from './traced.ts'

const parent = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' }
const traceparent = `00-${parent.traceId}-${parent.spanId}-01`

beforeAll(() => {
  registerSdk()
  // The pause before a retry is random up to a limit: this makes it none. The ids of spans are random, too.
  let drawn = 0
  vi.spyOn(Math, 'random').mockImplementation(() => {
    drawn += 1
    return drawn / 1e9
  })
})
afterAll(() => {
  vi.restoreAllMocks()
  unregisterSdk()
})
beforeEach(() => {
  takeSpans()
})

function startTraced(secrets: string[] = []) {
  const world = createWorld()
  world.platform.addDeployment(mailDeployment('dep_1'))
  const tracing = createTracing({ secrets })
  const lines: Record<string, unknown>[] = []
  const logger = tracing.tag((_, message, facts) => lines.push({ message, ...facts }))
  const host = world.start({ tracing, logger })
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

const deployment = { id: 'dep_1' }

describe('a traced host', () => {
  it('makes one span for an event, and one for each outbound call below it', async () => {
    await startTraced().send('mailer', { name: 'HEALTH_CHECK', deployment })
    expect(toTree(takeSpans())).toEqual([
      'POST /mailer/webhook (server)',
      '  GET mailer (client)',
      '  GET platform (client)',
      '  PUT platform (client)',
    ])
  })

  it('makes one span for each try, and marks what failed', async () => {
    const { world, send } = startTraced()
    world.mail.faults.add({ status: 503, times: 2 }, { cut: 'before' })
    await send('mailer', calling('getDeliveryStats'))
    const spans = takeSpans()
    expect(toTree(spans)).toEqual([
      'POST /mailer/webhook (server) !provider_error',
      '  GET mailer (client) !503',
      '  GET mailer (client) !503',
      '  GET mailer (client) !unreachable',
    ])
    expect(spans.at(-1)?.attributes).toMatchObject({ 'webhook.problem': 'provider_error' })
  })

  it('writes the facts of the event’s log line to its span, and the trace to the log line', async () => {
    const { send, lines } = startTraced()
    await send('mailer', calling('sendEmail', mail), 'evt_1')
    const event = takeSpans().at(-1)
    expect(event?.attributes).toEqual({
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
    expect(lines.at(-1)).toMatchObject({ delivery: 'evt_1', traceId: event?.spanContext().traceId })
  })

  it('marks no refusal as a fault of the host', async () => {
    await startTraced().send('mailer', calling('nothing'))
    expect(toTree(takeSpans())).toEqual(['POST /mailer/webhook (server)'])
  })

  it('writes the redacted reason of its own fault to the span', async () => {
    const { world, send } = startTraced()
    world.overrides.set('mail.test', () => {
      throw new RangeError('Out of room for ada@example.com.')
    })
    await send('mailer', calling('sendEmail', mail))
    expect(takeSpans().at(-1)?.status.message).toBe('RangeError: Out of room for [address].')
  })

  it('continues the sender’s trace to providers and to the platform, and keeps its baggage', async () => {
    const { world, send } = startTraced()
    await send('mailer', { name: 'HEALTH_CHECK', deployment }, 'evt_1', {
      traceparent,
      baggage: 'tenant=ada',
    })
    const spans = takeSpans()
    expect(spans.at(-1)?.parentSpanContext).toMatchObject({ ...parent, isRemote: true })
    const clients = spans
      .filter(({ kind }) => kind === 2)
      .map((span) => `00-${parent.traceId}-${span.spanContext().spanId}-01`)
    expect(world.sent.map(({ headers }) => headers.get('traceparent')).sort()).toEqual(clients.sort())
    expect(world.sent.filter(({ headers }) => headers.has('baggage'))).toEqual([])
  })

  it('makes its span below that of an instrumentation that watches all of HTTP', async () => {
    const { send } = startTraced()
    await inRequestSpan(() => send('mailer', { name: 'WEBHOOK_CHALLENGE' }, 'evt_1', { traceparent }))
    expect(toTree(takeSpans())).toEqual(['POST (server)', '  POST /mailer/webhook'])
  })

  it('writes no secret, mail address or path to any span', async () => {
    const secrets = [
      credentials.platformToken,
      credentials.mailToken,
      credentials.secretKey,
      credentials.accessToken,
    ]
    const tenants = [credentials.tenantMailToken, credentials.tenantSecretKey, credentials.tenantAccessToken]
    const { world, send } = startTraced(secrets)
    const address = 'ada.canary@example.com'
    const events = [
      { name: 'HEALTH_CHECK', deployment: { id: address, inputs: mailDeployment('').inputs } },
      { name: 'DEPLOYMENT_CREATED', deployment: mailDeployment('dep_1') },
      { name: credentials.mailToken },
      calling(credentials.mailToken),
      calling(address),
      calling('sendEmail', { ...mail, to: address }),
      calling('createUser', { emailAddress: address, password: 'canary-password' }),
      calling('getUser', { userId: 'user_canary' }),
    ]
    const sendAll = async (run: string) => {
      for (const [at, event] of events.entries())
        for (const route of ['mailer', 'idp', 'idp-server'])
          await send(route, event, `${credentials.platformToken} ${address} ${run} ${at}`)
    }
    await sendAll('well')
    for (const host of ['mail.test', 'idp.test', 'platform.test'])
      world.overrides.set(host, ({ url, headers, text }) =>
        Response.json({ Message: [url, ...headers.values(), text].join(' ') }, { status: 422 }),
      )
    await sendAll('quoted')
    const spans = takeSpans()
    expect(spans.length).toBeGreaterThan(80)
    const canaries = [...secrets, ...tenants, address, 'canary-password', 'user_canary', '/users', '/email']
    for (const { name, attributes, status, events: marks } of spans)
      expect(findCanaries(canaries, JSON.stringify({ name, attributes, status, marks }))).toEqual([])
  })
})

describe('a host that starts', () => {
  const registered = Symbol.for('opentelemetry.js.api.1')

  /** Starts with an SDK that `spoil` breaks. */
  async function load(spoil: () => void) {
    registerSdk()
    spoil()
    const warnings: string[] = []
    const tracing = await loadTracing({ secrets: [] }, (_, message) => warnings.push(message))
    unregisterSdk()
    Reflect.deleteProperty(globalThis, registered)
    return { isTraced: tracing !== undefined, warnings }
  }

  it.each([
    ['without an SDK', () => Reflect.deleteProperty(globalThis, registered), false, 0],
    ['with one', () => {}, true, 0],
    [
      'with one of a newer API',
      () => Reflect.set(Reflect.get(globalThis, registered), 'version', '1.10.0'),
      true,
      0,
    ],
    [
      'with one of an older API',
      () => Reflect.set(Reflect.get(globalThis, registered), 'version', '1.8.0'),
      false,
      1,
    ],
    ['with one without a context manager', () => context.disable(), false, 1],
  ])(
    '%s makes traces where they hang together, and warns otherwise',
    async (_, spoil, isTraced, warnings) => {
      const loaded = await load(spoil)
      expect(loaded.isTraced).toBe(isTraced)
      expect(loaded.warnings).toHaveLength(warnings)
    },
  )
})
