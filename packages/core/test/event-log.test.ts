import { createJsonLogger, type HandlerContext, IntegrationError, memoryStore } from '@org/core'
import { deliver } from '@org/core/testing'
import { describe, expect, it, vi } from 'vitest'
import {
  calling,
  created,
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

describe('the log line of an event', () => {
  it('has the facts of the event, its outcome and the number of provider calls', async () => {
    const provider = async (_: ProviderCall, { fetch, egress }: HandlerContext) => {
      await fetch('http://provider.test/one')
      await egress.fetch('https://provider.test/two')
    }
    const host = createHost({ provider, fetch: async () => new Response(), now: () => 0 })
    const event = { ...greet, deployment }
    await deliver(host.handle, event, { id: 'evt_1' })
    expect(lastLine(host)).toEqual({
      level: 'info',
      message: 'FUNCTION_CALL 200',
      facts: {
        route: 'greeter',
        event: 'FUNCTION_CALL',
        function: 'greet',
        deployment: 'dep_1',
        delivery: 'evt_1',
        request: expect.stringMatching(/^[\da-f-]{36}$/),
        outcome: 'ok',
        status: 200,
        code: undefined,
        attempt: 1,
        callsOwnServer: true,
        providerCalls: 2,
        platformCalls: 0,
        durationMs: 0,
      },
    })
    await deliver(host.handle, event, { id: 'evt_1' })
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
    for (const attempt of [1, 2]) {
      await deliver(host.handle, { ...greet, deployment }, { id: 'evt_1' })
      expect(host.lines).toHaveLength(attempt)
      const lost = expect.stringContaining(' (platform.test)')
      expect(lastLine(host)).toMatchObject({
        ...{ level: attempt === 1 ? 'error' : 'warn', message: 'FUNCTION_CALL 502' },
        facts: {
          ...{ outcome: 'failed', code: 'provider_error', reason: 'It broke. (provider.test)', attempt },
          ...{ providerCalls: 1, platformCalls: 1 },
          notes: expect.arrayContaining([
            { level: 'warn', message: 'A warning.' },
            { level: 'warn', message: 'The platform did not receive the log.', reason: lost },
          ]),
        },
      })
    }
    expect(host.lines[0]?.facts?.notes).toContainEqual({
      ...{ level: 'error', message: 'The delivery store is unreachable.' },
      reason: 'connect ECONNREFUSED 192.0.2.1:6379',
    })
  })

  it('has the checks that fail, and a part of a thousand notes with the number of the others', async () => {
    const provider = async (_: ProviderCall, { log }: HandlerContext) => {
      for (let count = 0; count < 1_000; count += 1) log.info('x'.repeat(1_000))
      throw new IntegrationError('provider_error', 'It is away.')
    }
    const health = async () => [{ name: 'provider', healthy: false, latencyMs: 0 }]
    const host = createHost({ provider, handlers: { health } })
    await deliver(host.handle, { name: 'HEALTH_CHECK', deployment })
    expect(lastLine(host)).toMatchObject({
      level: 'info',
      facts: { notes: [{ message: 'Unhealthy: provider.' }] },
    })
    await deliver(host.handle, { ...greet, deployment })
    expect(JSON.stringify(lastLine(host)).length).toBeLessThan(4_000)
    const message = expect.stringMatching(/^99\d more notes were left out\.$/)
    expect(lastLine(host)?.facts?.notes).toContainEqual({ level: 'info', message })
  })

  it.each([
    ['not_found', 'info', 'refused'],
    ['outcome_unknown', 'warn', 'unknown'],
    ['provider_error', 'warn', 'failed'],
    ['platform_unavailable', 'error', 'failed'],
  ] as const)('after %s has the level “%s”, and the outcome “%s”', async (code, level, outcome) => {
    const host = createHost({ provider: failing(new IntegrationError(code, 'It failed.')) })
    await deliver(host.handle, { ...calling('count'), deployment })
    expect(host.lines).toMatchObject([{ level, facts: { outcome, detail: 'It failed.' } }])
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
    await deliver(throughProxy, { ...greet, deployment }, { id: 'evt_1' })
    answered.resolve()
    await expect.poll(() => host.lines.length).toBe(2)
    const ids = { deployment: 'dep_1', delivery: 'evt_1', request: 'from-the-proxy.1', traceId }
    for (const line of host.lines) expect(line).toMatchObject({ facts: { route: 'greeter', ...ids } })
  })

  it.each(['the-secret', 'ada@example.com'])('never holds “%s”, in whichever field', async (text) => {
    const host = createHost({ secrets: ['the-secret'] })
    const event = { ...calling(text), deployment: { id: text, inputs: { token } } }
    await deliver(host.handle, event, { id: `${text}-1` })
    await deliver(host.handle, calling('greet', { [text]: text }), { id: `${text}-2` })
    expect(host.lines.length).toBeGreaterThanOrEqual(2)
    expect(JSON.stringify(host.lines)).not.toContain(text)
  })

  it('names a tenant who has chosen its own name as a secret', async () => {
    const host = createHost()
    const secrets = { inputs: { token: 'dep_attacker' }, outputs: { token: 'dep_attacker' } }
    const event = calling('greet', { to: 'Ada', password: 'evt_of_an_attacker' })
    await deliver(
      host.handle,
      { ...event, deployment: { id: 'dep_attacker', ...secrets } },
      { id: 'evt_of_an_attacker' },
    )
    expect(lastLine(host)?.facts).toMatchObject({
      deployment: 'dep_attacker',
      delivery: 'evt_of_an_attacker',
    })
  })

  it('does not tell by a mask who guessed a secret of the host', async () => {
    const host = createHost({ secrets: ['token-of-the-operator'] })
    const guess = calling('greet', { to: 'token-of-the-operator' })
    for (const replayed of [null, 'true']) {
      const { body, headers } = await deliver(host.handle, guess, { id: 'evt_1' })
      expect(body).toEqual({ result: { id: 'greeting-to-token-of-the-operator' } })
      expect(headers.get('idempotency-replayed')).toBe(replayed)
    }
    expect((await deliver(host.handle, calling('token-of-the-operator'))).body).toMatchObject({
      detail: expect.stringContaining('“token-of-the-operator”'),
    })
    const argument = calling('greet', { 'token-of-the-operator': 1 })
    expect((await deliver(host.handle, argument)).body).toMatchObject({
      errors: expect.arrayContaining([
        expect.objectContaining({ path: expect.stringContaining('token-of') }),
      ]),
    })
    expect(JSON.stringify(host.lines)).not.toContain('token-of-the-operator')
  })

  it('has the reason and the place of a fault of the host, without secrets and addresses', async () => {
    const message = `Headers.append: "${token}" for ada@example.com ${'x'.repeat(1_000)}`
    const host = createHost({ provider: failing(new TypeError(message)) })
    await deliver(host.handle, created)
    const facts = lastLine(host)?.facts ?? {}
    expect(facts.reason).toMatch(/^TypeError: Headers\.append: "\[redacted\]" for \[address\] x+$/)
    expect(String(facts.reason)).toHaveLength(500)
    expect(facts).toMatchObject({ at: expect.arrayContaining([expect.stringMatching(/^ +at /)]) })
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

  it('has no megabyte of a provider, and no control character, on the platform either', async () => {
    const message = `\u001b[2J\u0085\u2028${'x'.repeat(1_000_000)}`
    const provider = async (_: ProviderCall, { log }: HandlerContext) => {
      log.info(message, { quoted: message })
      throw new IntegrationError('provider_rejected', message)
    }
    const host = createHost({ provider })
    await deliver(host.handle, created)
    for (const written of [host.lines, host.platform.calls.map(({ body }) => body)]) {
      const text = JSON.stringify(written)
      expect(text.length).toBeLessThan(40_000)
      // Escaped by JSON alone, it would be one again when the platform reads it.
      expect(text).not.toMatch(/(?<!\\)\\u001b|[\u0085\u2028]/)
    }
  })
})

// The host's tests of metrics hold the rest.
it('an observer learns of a call that is a Request where it goes, and whether it uses a secret of the host', async () => {
  const seen: unknown[] = []
  const host = createHost({
    secrets: ['secret-of-the-host'],
    observer: {
      call({ to, method, url, usesHostSecret }, send) {
        seen.push(to, method, url, usesHostSecret())
        return send()
      },
    },
    async provider(_, { fetch }) {
      const headers = { authorization: 'Bearer secret-of-the-host' }
      await fetch(new Request('http://provider.test/', { method: 'POST', headers }))
    },
    fetch: async () => new Response(),
  })
  await deliver(host.handle, greet)
  expect(seen).toEqual(['provider', 'POST', 'http://provider.test/', true])
})
