import {
  createJsonLogger,
  type EventRecord,
  type HandlerContext,
  IntegrationError,
  type Observer,
} from '@org/core'
import { deliver } from '@org/core/testing'
import { describe, expect, it } from 'vitest'
import {
  calling,
  created,
  createHost,
  type ExampleSettings,
  failing,
  greet,
  type Host,
  outputs,
  type ProviderCall,
  token,
} from './fixtures.ts'

type Context = HandlerContext

const lastLine = ({ lines }: Host) => lines.at(-1)

describe('the log line of an event', () => {
  it('has the facts of the event, its outcome and the number of provider calls', async () => {
    const provider = async (_: ProviderCall, { fetch, egress }: Context) => {
      await fetch('http://provider.test/one')
      await egress.fetch('https://provider.test/two')
    }
    const host = createHost({ provider, fetch: async () => new Response(), now: () => 0 })
    await deliver(host.handle, { ...greet, deployment: { id: 'dep_1', outputs } }, { id: 'evt_1' })
    expect(lastLine(host)).toEqual({
      level: 'info',
      message: 'FUNCTION_CALL 200',
      facts: {
        route: 'greeter',
        event: 'FUNCTION_CALL',
        function: 'greet',
        deployment: 'dep_1',
        delivery: 'evt_1',
        outcome: 'ok',
        status: 200,
        code: undefined,
        replayed: undefined,
        durationMs: 0,
        providerCalls: 2,
      },
    })
    await deliver(host.handle, { ...greet, deployment: { id: 'dep_1', outputs } }, { id: 'evt_1' })
    expect(lastLine(host)?.facts).toMatchObject({ outcome: 'replayed', providerCalls: 0 })
  })

  it.each([
    ['ok', 'info', createHost(), { name: 'WEBHOOK_CHALLENGE' }],
    ['refused', 'info', createHost(), { name: 'NOTHING' }],
    [
      'failed',
      'error',
      createHost({ provider: failing(new IntegrationError('provider_error', 'Down.')) }),
      calling('count'),
    ],
  ] as const)('has the outcome “%s” at the level %s', async (outcome, level, host, event) => {
    await deliver(host.handle, event)
    expect(lastLine(host)).toMatchObject({ level, facts: { outcome } })
  })

  it('has the outcome “ignored” at the level info', async () => {
    const host = createHost()
    host.platform.removeDeployment('dep_1')
    await deliver(host.handle, created)
    expect(lastLine(host)).toMatchObject({ level: 'info', facts: { outcome: 'ignored' } })
  })

  it.each(['the-secret', 'ada@example.com'])(
    'never holds “%s”, whichever field the sender puts it into',
    async (text) => {
      const host = createHost({ secrets: ['the-secret'] })
      const event = { ...calling(text), deployment: { id: text, inputs: { token } } }
      await deliver(host.handle, event, { id: `${text}-1` })
      await deliver(host.handle, calling('greet', { [text]: text }), { id: `${text}-2` })
      expect(host.lines.length).toBeGreaterThanOrEqual(2)
      expect(JSON.stringify(host.lines)).not.toContain(text)
    },
  )

  it('has the reason and the place of a fault of the host, without secrets and addresses', async () => {
    const message = `Headers.append: "${token}" for ada@example.com ${'x'.repeat(1_000)}`
    const host = createHost({ provider: failing(new TypeError(message)) })
    await deliver(host.handle, created)
    const facts = lastLine(host)?.facts ?? {}
    expect(facts.reason).toMatch(/^TypeError: Headers\.append: "\[redacted\]" for \[address\] x+$/)
    expect(String(facts.reason)).toHaveLength(500)
    expect(facts).toMatchObject({ at: expect.arrayContaining([expect.stringMatching(/^ +at /)]) })
  })

  // ANSI sequences, line ends, and characters that turn the direction of writing or are invisible.
  it.each([
    '\n',
    '\r\n',
    '\u001b[2J\u001b[31mred',
    '\u009b31m',
    '\u0000\u0007\u0008\u007f',
    '\u0085',
    '\u2028\u2029',
    '\u202e\u2066\u200f\u061c',
    '\u200b\u2060\ufeff',
    '"}\n{"level":"error","message":"forged"}',
    '\ud800',
  ])('is one line of visible characters as JSON, with %j in it', (payload) => {
    const lines: string[] = []
    createJsonLogger('info', (line) => lines.push(line))('info', payload, { [payload]: payload })
    expect(lines).toEqual([expect.stringMatching(/^[\x20-\x7e]*$/)])
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ level: 'info', message: payload, [payload]: payload })
  })
})

describe('an observer', () => {
  /** A host with an observer, and everything that it observes, in order. */
  function observed(provider?: ExampleSettings['provider']) {
    const seen: (EventRecord | string)[] = []
    const observer: Observer = {
      async event(route, request, handle) {
        seen.push(`${route} ${request.method} begins`)
        return handle().finally(() => seen.push(`${route} ends`))
      },
      call({ to, method, url }, send) {
        seen.push(`${to}: ${method} ${new URL(url).pathname}`)
        return send()
      },
      answered: (record) => void seen.push(record),
    }
    return { seen, host: createHost({ observer, ...(provider && { provider }) }) }
  }

  it('sees an event, its outbound calls in order, and the facts of its log line', async () => {
    const { seen, host } = observed()
    await deliver(host.handle, created, { id: 'evt_1' })
    const line = host.lines.find(({ message }) => message === 'DEPLOYMENT_CREATED 200')
    expect(line).toBeDefined()
    const writes = ['PUT /deployments/dep_1/status', 'PUT /deployments/dep_1/outputs']
    const callbacks = [...writes, writes[0], 'POST /deployments/dep_1/logs']
    expect(seen).toEqual([
      'greeter POST begins',
      ...callbacks.map((call) => `platform: ${call}`),
      line?.facts,
      'greeter ends',
    ])
  })

  it('adds headers to an outbound call', async () => {
    const sent: Headers[] = []
    const host = createHost({
      observer: {
        call({ headers }, send) {
          headers.traceparent = '00-1'
          return send()
        },
      },
      async fetch(_, init) {
        sent.push(new Headers(init?.headers))
        return new Response()
      },
      async provider(_, { fetch }) {
        await fetch('http://provider.test', { headers: { accept: 'text/plain' } })
      },
    })
    await deliver(host.handle, greet)
    expect(sent.map((headers) => Object.fromEntries(headers))).toEqual([
      { accept: 'text/plain', traceparent: '00-1' },
    ])
  })

  it('sees a failure, and does not change it', async () => {
    const { seen, host } = observed(failing(new IntegrationError('provider_rejected', 'No.')))
    const code = 'provider_rejected'
    expect((await deliver(host.handle, created)).body).toMatchObject({ code })
    expect(seen).toContainEqual(expect.objectContaining({ outcome: 'refused', code }))
  })

  it('sees a replayed and a refused event without any call', async () => {
    const { seen, host } = observed()
    await deliver(host.handle, greet, { id: 'evt_1' })
    seen.length = 0
    await deliver(host.handle, greet, { id: 'evt_1' })
    await deliver(host.handle, { name: 'NOTHING' })
    expect(seen.filter((entry) => typeof entry !== 'string')).toMatchObject([
      { event: 'FUNCTION_CALL', outcome: 'replayed' },
      { event: undefined, outcome: 'refused', code: 'invalid_event' },
    ])
  })

  it('may observe nothing', async () => {
    const host = createHost({ observer: {} })
    expect((await deliver(host.handle, created)).status).toBe(200)
    expect(host.told()).toHaveLength(4)
  })
})
