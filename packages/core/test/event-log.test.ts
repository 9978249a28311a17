import {
  createJsonLogger,
  createVerifier,
  type HandlerContext,
  IntegrationError,
  memoryStore,
} from '@org/core'
import { connectPlatform, deliver } from '@org/core/testing'
import { describe, expect, it, vi } from 'vitest'
import {
  calling,
  createHost,
  failing,
  greet,
  type Host,
  outputs,
  type ProviderCall,
  token,
} from './fixtures.ts'

const lastLine = ({ lines }: Host) => lines.at(-1)
const deployment = { id: 'dep_1', outputs }
const greetOf = { ...greet, deployment }

describe('the log line of an event', () => {
  it('has the facts of the event, its outcome and the number of provider calls, and an observer sees each call', async () => {
    const seen: unknown[] = []
    const host = createHost({
      now: () => 0,
      secrets: ['secret-of-the-host'],
      fetch: async () => new Response(),
      async provider(_, { fetch, egress }) {
        const headers = { authorization: 'Bearer secret-of-the-host' }
        await fetch(new Request('http://provider.test/one', { method: 'POST', headers }))
        await egress.fetch('https://provider.test/two')
      },
      observer: {
        call({ to, method, url, usesHostSecret }, send) {
          seen.push([to, method, url, usesHostSecret()])
          return send()
        },
      },
    })
    await deliver(host.handle, greetOf, { id: 'evt_1' })
    expect(lastLine(host)).toEqual({
      level: 'info',
      message: 'FUNCTION_CALL 200',
      facts: {
        ...{ route: 'greeter', event: 'FUNCTION_CALL', function: 'greet', deployment: 'dep_1' },
        ...{ delivery: 'evt_1', request: expect.stringMatching(/^[\da-f-]{36}$/), attempt: 1 },
        ...{ outcome: 'ok', status: 200, code: undefined, durationMs: 0 },
        ...{ callsOwnServer: true, providerCalls: 2, platformCalls: 0 },
      },
    })
    expect(seen).toEqual([
      ['provider', 'POST', 'http://provider.test/one', true],
      ['provider', 'GET', 'https://provider.test/two', false],
    ])
    await deliver(host.handle, greetOf, { id: 'evt_1' })
    expect(lastLine(host)?.facts).toMatchObject({ outcome: 'replayed', providerCalls: 0 })
    expect(host.lines).toHaveLength(2)
  })

  it('is the only one of an event that fails, warns, and loses its reports, and counts its attempts', async () => {
    const memory = memoryStore()
    const claim = vi.fn(memory.claim).mockRejectedValueOnce(new Error('connect ECONNREFUSED 192.0.2.1:6379'))
    const provider = async (_: ProviderCall, { log, fetch }: HandlerContext) => {
      log.warn('A warning.')
      await fetch('http://provider.test/').catch((cause: unknown) => {
        throw new IntegrationError('provider_error', 'It is away.', { cause, provider: { name: 'greeter' } })
      })
    }
    const fetch = () => Promise.reject(new TypeError('fetch failed', { cause: new Error('It broke.') }))
    const host = createHost({ store: { ...memory, claim }, provider, fetch })
    host.platform.faults.add({ path: /logs/, status: 422, times: 2 })
    for (const _ of [1, 2]) await deliver(host.handle, greetOf, { id: 'evt_1' })
    const reason = expect.stringContaining(' (platform.test)')
    const notes = [
      { level: 'warn', message: 'A warning.' },
      { level: 'warn', message: 'The platform did not receive the log.', reason },
    ]
    const unreachable = { level: 'error', message: 'The delivery store is unreachable.' }
    const lost = { ...unreachable, reason: 'connect ECONNREFUSED 192.0.2.1:6379' }
    const facts = {
      ...{ outcome: 'failed', code: 'provider_error', reason: 'It broke. (provider.test)' },
      ...{ providerCalls: 1, platformCalls: 1 },
    }
    const message = 'FUNCTION_CALL 502'
    expect(host.lines).toMatchObject([
      { level: 'error', message, facts: { ...facts, attempt: 1, notes: [lost, ...notes] } },
      { level: 'warn', message, facts: { ...facts, attempt: 2, notes } },
    ])
  })

  it('names the delivery of a signed request that is no event, and not of one with a wrong signature', async () => {
    const [secret = '', wrong] = ['a', 'b'].map((letter) => `whsec_${btoa(letter.repeat(24))}`)
    const host = createHost({ verify: createVerifier({ secrets: [secret] }) })
    for (const id of ['evt_1', 'x'.repeat(300)]) await deliver(host.handle, {}, { id, secret })
    await deliver(host.handle, {}, { id: 'evt_1', secret: wrong })
    const facts = host.lines.map(({ facts }) => [facts?.status, facts?.delivery])
    expect(facts).toEqual([
      [400, 'evt_1'],
      [400, 'x'.repeat(200)],
      [401, undefined],
    ])
  })

  it('has the checks that fail, and a part of a thousand notes with the number of the others', async () => {
    const provider = async (_: ProviderCall, { log }: HandlerContext) => {
      for (let count = 0; count < 1_000; count += 1) log.info('x'.repeat(1_000))
    }
    const health = async () => [{ name: 'provider', healthy: false, latencyMs: 0 }]
    const host = createHost({ provider, handlers: { health } })
    await deliver(host.handle, { name: 'HEALTH_CHECK', deployment })
    expect(lastLine(host)).toMatchObject({
      level: 'info',
      facts: { notes: [{ message: 'Unhealthy: provider.' }] },
    })
    await deliver(host.handle, greetOf)
    expect(JSON.stringify(lastLine(host)).length).toBeLessThan(4_000)
    const message = expect.stringMatching(/^99\d more notes were left out\.$/)
    expect(lastLine(host)?.facts?.notes).toContainEqual({ level: 'info', message })
  })

  it.each([
    ['not_found', 'info', 'refused', undefined],
    ['outcome_unknown', 'warn', 'unknown', 'Its cause.'],
    ['provider_error', 'warn', 'failed', 'Its cause.'],
    ['platform_unavailable', 'error', 'failed', 'Its cause.'],
  ] as const)('after %s has the level “%s”, the outcome “%s”, and the cause %j', async (...row) => {
    const [code, level, outcome, reason] = row
    const cause = new Error('Its cause.')
    const host = createHost({ provider: failing(new IntegrationError(code, 'It failed.', { cause })) })
    await deliver(host.handle, { ...calling('count'), deployment })
    expect(host.lines).toMatchObject([{ level, facts: { outcome, detail: 'It failed.' } }])
    expect(lastLine(host)?.facts?.reason).toBe(reason)
    expect(host.record()?.logs).toMatchObject([{ level: 'error' }])
  })

  it('and each line after it have the route, deployment, delivery, request and trace of the sender', async () => {
    const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
    const answered = Promise.withResolvers<void>()
    const provider = async (_: ProviderCall, { log }: HandlerContext) =>
      void answered.promise.then(() => log.info('After the response.'))
    const host = createHost({ provider })
    const throughProxy = (request: Request) => {
      request.headers.set('x-request-id', 'from-the-proxy.1')
      request.headers.set('traceparent', `00-${traceId}-00f067aa0ba902b7-01`)
      return host.handle(request)
    }
    await deliver(throughProxy, greetOf, { id: 'evt_1' })
    answered.resolve()
    await expect.poll(() => host.lines.length).toBe(2)
    const facts = {
      route: 'greeter',
      deployment: 'dep_1',
      delivery: 'evt_1',
      request: 'from-the-proxy.1',
      traceId,
    }
    for (const line of host.lines) expect(line).toMatchObject({ facts })
  })

  it.each(['the-secret', 'ada@example.com'])('never holds “%s”, in whichever field', async (text) => {
    const refuse = () => Promise.reject(new Error(`No route for ${text}.`))
    const host = createHost({ secrets: ['the-secret'], platform: connectPlatform(refuse) })
    const event = { ...calling(text), deployment: { id: text, inputs: { token } } }
    await deliver(host.handle, event, { id: `${text}-1` })
    await deliver(host.handle, calling('greet', { [text]: text }), { id: `${text}-2` })
    expect(host.lines).toHaveLength(2)
    const lines = JSON.stringify(host.lines)
    expect(lines).toMatch(/did not receive the log.*No route for \[/)
    expect(lines).not.toContain(text)
  })

  it('names a tenant who has chosen its own name as a secret', async () => {
    const host = createHost()
    const name = 'of_an_attacker'
    const deployment = { id: name, inputs: { token: name }, outputs: { token: name } }
    await deliver(
      host.handle,
      { ...calling('greet', { to: 'Ada', password: name }), deployment },
      { id: name },
    )
    expect(lastLine(host)?.facts).toMatchObject({ deployment: name, delivery: name })
  })

  it('does not tell by a mask who guessed a secret of the host', async () => {
    const guess = 'token-of-the-operator'
    const host = createHost({ secrets: [guess] })
    for (const replayed of [null, 'true']) {
      const { body, headers } = await deliver(host.handle, calling('greet', { to: guess }), { id: 'evt_1' })
      expect(body).toEqual({ result: { id: `greeting-to-${guess}` } })
      expect(headers.get('idempotency-replayed')).toBe(replayed)
    }
    const unknown = await deliver(host.handle, calling(guess))
    expect(unknown.body).toMatchObject({ detail: expect.stringContaining(`“${guess}”`) })
    const argument = await deliver(host.handle, calling('greet', { to: 'Ada', [guess]: 1 }))
    expect(argument.body).toMatchObject({ errors: [{ path: guess }] })
    expect(JSON.stringify(host.lines)).not.toContain(guess)
  })
})

describe('a line of a log', () => {
  const lineOf = (message: string, facts: Record<string, unknown>) => {
    const lines: string[] = []
    createJsonLogger('info', (line) => lines.push(line))('info', message, facts)
    expect(lines).toHaveLength(1)
    return lines[0] ?? ''
  }

  // ANSI sequences, line ends, and characters that turn the direction of writing or are invisible.
  it.each([
    '\r\n\u0085\u2028\u2029',
    '\u001b[2J\u001b[31mred\u009b31m\u0000\u0007\u0008\u007f',
    '\u202e\u2066\u200f\u061c\u200b\u2060\ufeff',
    '"}\n{"level":"error","message":"forged"}',
    '\ud800',
  ])('is one line of visible characters as JSON, with %j in it', (text) => {
    const line = lineOf(text, { [text]: text })
    expect(line).toMatch(/^[\x20-\x7e]*$/)
    expect(JSON.parse(line)).toMatchObject({ level: 'info', message: text, [text]: text })
  })

  it.each<[string, string, Record<string, unknown>]>([
    ['a message', 'x'.repeat(1_000_000), {}],
    ['a fact', 'Hello.', { fact: '\u0000"'.repeat(500_000) }],
    ['fields', 'Hello.', Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`"${at}`, { at }]))],
  ])('has at most 16,000 characters with %s of a megabyte, and says what is cut', (_, message, facts) => {
    const line = lineOf(message, facts)
    expect(line.length).toBeLessThanOrEqual(16_000)
    expect(JSON.stringify(JSON.parse(line))).toMatch(/cut: \d+ characters/)
  })
})
