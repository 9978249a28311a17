import { BasicTracerProvider } from '@opentelemetry/sdk-trace-base'
import { memoryStore } from '@org/core'
import { deliver } from '@org/core/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { createTracing } from '../src/tracing.ts'
import { findCanaries } from './canary.ts'
import { createWorld, credentials } from './hosted.ts'
import { calling, mail, mailDeployment } from './measured.ts'
import { inRequestSpan, registerSdk, takeSpans, toTree, unregisterSdk } from './traced.ts'

const always = { times: Number.POSITIVE_INFINITY }
const parent = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' }
const traceparent = `00-${parent.traceId}-${parent.spanId}-01`

beforeAll(() => {
  registerSdk()
  // The pause between two tries is random, up to a limit: this makes it none. The ids of spans are random, too.
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
  const host = world.start({ tracing, store: memoryStore(), logger })
  const send = (route: string, event: unknown, id?: string, headers: Record<string, string> = {}) =>
    deliver(
      async (request) => {
        for (const [name, value] of Object.entries(headers)) request.headers.set(name, value)
        return host.fetch(request)
      },
      event,
      { url: `http://host.test/${route}/webhook`, ...(id === undefined ? {} : { id }) },
    )
  return { world, lines, host, send }
}

const deployment = { id: 'dep_1' }
const mailerEvent = 'POST /mailer/webhook (server)'
const callback = (name: string, method: string) => [`    ${name}`, `      ${method} platform (client)`]
const reported = ['  report', ...callback('appendLogs', 'POST')]

describe('the spans of an event', () => {
  it.each([
    [{ name: 'WEBHOOK_CHALLENGE' }, ['  handler', '  report']],
    [
      { name: 'HEALTH_CHECK', deployment },
      [
        '  handler',
        '    GET mailer (client)',
        ...callback('getDeployment', 'GET'),
        ...callback('setStatus', 'PUT'),
        '  report',
      ],
    ],
    [
      { name: 'METRIC_UPDATE', deployment },
      [
        '  handler',
        '    GET mailer (client)',
        ...callback('getDeployment', 'GET'),
        ...callback('reportMetrics', 'POST'),
        '  report',
      ],
    ],
    [
      { name: 'DEPLOYMENT_CREATED', deployment: mailDeployment('dep_1') },
      [
        '  claim',
        '  handler',
        '    GET mailer (client)',
        ...callback('setOutputs', 'PUT'),
        ...callback('setStatus', 'PUT'),
        ...callback('setStatus', 'PUT'),
        '  record answer',
        ...reported,
      ],
    ],
    [
      { name: 'DEPLOYMENT_DELETED', deployment },
      ['  claim', '  handler', ...callback('setStatus', 'PUT'), '  record answer', ...reported],
    ],
    [
      calling('sendEmail', mail),
      ['  claim', '  handler', '    POST mailer (client)', '    record step', '  record answer', '  report'],
    ],
  ])('are its steps, and below them the calls that each makes: $name', async (event, expected) => {
    await startTraced().send('mailer', event, 'evt_1')
    expect(toTree(takeSpans())).toEqual([mailerEvent, ...expected])
  })

  it('are a download’s, too', async () => {
    await startTraced().send('idp', { name: 'DOWNLOAD_STARTED' })
    expect(toTree(takeSpans())).toEqual(['POST /idp/webhook (server)', '  handler', '  report'])
  })

  it('show what a creation writes down, and when it asks the provider', async () => {
    const { world, send } = startTraced()
    const inputs = { applicationName: 'Shop' }
    world.platform.addDeployment({ id: 'dep_2', inputs })
    await send('idp-server', { name: 'DEPLOYMENT_CREATED', deployment: { id: 'dep_2', inputs } })
    const spans = takeSpans()
    const steps = spans.flatMap(({ attributes }) => attributes['webhook.steps'] ?? [])
    expect(steps).toEqual(['intent', 'applicationId'])
    const asked = spans.map(({ name }) => name).filter((name) => name.endsWith(' idp-server'))
    expect(asked).toEqual(['GET idp-server', 'POST idp-server'])
  })

  it('of a replay are its claim alone', async () => {
    const { send } = startTraced()
    await send('mailer', calling('sendEmail', mail), 'evt_1')
    takeSpans()
    await send('mailer', calling('sendEmail', mail), 'evt_1')
    const spans = takeSpans()
    expect(toTree(spans)).toEqual([mailerEvent, '  claim'])
    expect(spans.map(({ attributes }) => attributes['webhook.outcome'])).toEqual(['done', 'replayed'])
  })

  it('say of it what its line in the log says, and that line names their trace', async () => {
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
})

describe('what fails', () => {
  it('is marked where it failed: each try, the step, and the event', async () => {
    const { world, send } = startTraced()
    world.mail.faults.add({ status: 503, ...always })
    await send('mailer', calling('getDeliveryStats'))
    const spans = takeSpans()
    expect(toTree(spans)).toEqual([
      'POST /mailer/webhook (server) !provider_error',
      '  handler !provider_error',
      ...Array(3).fill('    GET mailer (client) !503'),
      '  report',
    ])
    expect(spans.at(-1)?.attributes).toMatchObject({
      'http.response.status_code': 502,
      'webhook.problem': 'provider_error',
    })
  })

  it('is no fault of the host where it is refused', async () => {
    const { send } = startTraced()
    await send('mailer', calling('nothing'))
    const spans = takeSpans()
    expect(toTree(spans)).toEqual([mailerEvent, '  handler !unknown_function', '  report'])
    expect(spans.at(-1)?.attributes).toMatchObject({ 'webhook.problem': 'unknown_function' })
  })

  it('in the host itself says what it was, as the log does', async () => {
    const { world, send, lines } = startTraced()
    world.overrides.set('mail.test', () => {
      throw new RangeError('Out of room for ada@example.com.')
    })
    await send('mailer', calling('sendEmail', mail))
    const status = takeSpans().at(-1)?.status
    expect(lines.at(-1)).toMatchObject({ reason: status?.message })
    expect(status?.message).toBe('RangeError: Out of room for [address].')
  })

  it('without an answer says why', async () => {
    const { world, send } = startTraced()
    world.mail.faults.add({ cut: 'before', times: 1 })
    await send('mailer', calling('sendEmail', mail))
    expect(toTree(takeSpans())).toContain('    POST mailer (client) !unreachable')
  })
})

describe('a trace', () => {
  it('goes on from the platform’s to the providers and back to the platform, without what else travels', async () => {
    const { world, send } = startTraced()
    const headers = { traceparent, baggage: 'tenant=ada' }
    await send('mailer', { name: 'HEALTH_CHECK', deployment }, 'evt_1', headers)
    const spans = takeSpans()
    expect(spans.at(-1)?.parentSpanContext).toMatchObject({ ...parent, isRemote: true })
    expect(new Set(spans.map((span) => span.spanContext().traceId))).toEqual(new Set([parent.traceId]))
    const clients = new Set(
      spans
        .filter(({ kind }) => kind === 2)
        .map((span) => `00-${parent.traceId}-${span.spanContext().spanId}-01`),
    )
    expect(new Set(world.sent.map((sent) => sent.headers.get('traceparent')))).toEqual(clients)
    expect(world.sent.filter((sent) => sent.headers.has('baggage'))).toEqual([])
  })

  it('begins with the event where the platform sends none, or none that can be read', async () => {
    const { send } = startTraced()
    for (const given of [undefined, { traceparent: 'nonsense' }]) {
      await send('mailer', { name: 'WEBHOOK_CHALLENGE' }, 'evt_1', given)
      expect(takeSpans().at(-1)?.parentSpanContext).toBeUndefined()
    }
  })

  it('has one server span, also where something else watches HTTP', async () => {
    const { send } = startTraced()
    await inRequestSpan(() => send('mailer', { name: 'WEBHOOK_CHALLENGE' }, 'evt_1', { traceparent }))
    expect(toTree(takeSpans())).toEqual([
      'POST (server)',
      '  POST /mailer/webhook',
      '    handler',
      '    report',
    ])
  })

  it('is begun by nothing where the host is not traced, and nothing of it leaves', async () => {
    const world = createWorld()
    await deliver(world.start().fetch, { name: 'HEALTH_CHECK' }, { url: 'http://host.test/mailer/webhook' })
    expect(takeSpans()).toEqual([])
    expect(world.sent.map(({ headers }) => headers.get('traceparent'))).toEqual([null])
  })
})

it('what the SDK still holds is sent when the host ends', async () => {
  const flushed = vi.spyOn(BasicTracerProvider.prototype, 'forceFlush')
  await createTracing({ secrets: [] }).flush()
  expect(flushed).toHaveBeenCalledOnce()
})

it('no span holds a secret, a mail address or a path, whatever is asked and answered', async () => {
  const secrets = [
    credentials.platformToken,
    credentials.mailToken,
    credentials.secretKey,
    credentials.accessToken,
  ]
  const tenants = [credentials.tenantMailToken, credentials.tenantSecretKey, credentials.tenantAccessToken]
  const { world, send } = startTraced(secrets)
  const person = { emailAddress: 'ada.canary@example.com', password: 'canary-password' }
  const events = [
    { name: 'HEALTH_CHECK', deployment: { id: 'ada.canary@example.com', inputs: mailDeployment('').inputs } },
    { name: 'DEPLOYMENT_CREATED', deployment: mailDeployment('dep_1') },
    { name: credentials.mailToken },
    calling(credentials.mailToken),
    calling('ada.canary@example.com'),
    calling('sendEmail', { ...mail, to: 'ada.canary@example.com' }),
    calling('createUser', person),
    calling('listUsers', { query: 'ada.canary@example.com' }),
    calling('getUser', { userId: 'user_canary' }),
    { name: 'METRIC_UPDATE', deployment: mailDeployment(credentials.mailToken) },
  ]
  const sendAll = async (run: string) => {
    for (const [at, event] of events.entries())
      for (const route of ['mailer', 'idp', 'idp-server'])
        await send(route, event, `${credentials.platformToken} ada.canary@example.com ${run} ${at}`)
  }
  await sendAll('all is well')
  for (const host of ['mail.test', 'idp.test', 'platform.test'])
    world.overrides.set(host, ({ url, headers, text }) =>
      Response.json({ Message: [url, ...headers.values(), text].join(' ') }, { status: 422 }),
    )
  await sendAll('all is quoted')
  const spans = takeSpans()
  expect(spans.length).toBeGreaterThan(200)
  const texts = spans.map(({ name, attributes, status, events: marks, links }) =>
    JSON.stringify({ name, attributes, status, marks, links }),
  )
  const canaries = [
    ...secrets,
    ...tenants,
    person.emailAddress,
    person.password,
    'user_canary',
    '/users',
    '/email',
  ]
  for (const text of texts) expect(findCanaries(canaries, text), text).toEqual([])
})
