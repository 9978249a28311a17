import { type HandlerContext, IntegrationError, memoryStore } from '@org/core'
import { deliver } from '@org/core/testing'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import {
  calling,
  created,
  createHost,
  failing,
  greet,
  issuedKey,
  outputs,
  type ProviderCall,
  refusal,
  token,
} from './fixtures.ts'

const count = calling('count')

describe('a problem', () => {
  const provider = { name: 'greeter', status: 400, code: '17', message: 'No such person.' }
  const refused = { provider, hint: 'Ask nicely.', retryAfter: 6.2 }
  it.each<[IntegrationError['code'], object, object, object]>([
    ['provider_rejected', refused, created, { provider, detail: 'It said no. Ask nicely.', wait: null }],
    ['provider_rate_limited', { retryAfter: 6.2 }, greet, { code: 'provider_rate_limited', wait: '7' }],
    // The request may have left.
    ['provider_timeout', { effect: 'unknown' }, greet, { code: 'outcome_unknown', status: 409 }],
    ['provider_timeout', { effect: 'unknown' }, count, { code: 'provider_timeout', retryable: true }],
    ['aborted', {}, created, { code: 'internal_error' }],
    ['aborted', {}, greet, { code: 'outcome_unknown' }],
  ])('of %s with %j in %j is %j', async (code, facts, event, expected) => {
    const error = new IntegrationError(code, 'It said no.', facts)
    const problem = await refusal(createHost({ provider: failing(error) }), event)
    expect({ ...problem, wait: problem.headers.get('retry-after') }).toMatchObject(expected)
  })

  it.each([
    [400, '1'],
    [2_500, '3'],
    [60_000, '5'],
  ])(
    'of a delivery in progress with %i ms left asks to wait %s s, because it may end early',
    async (...row) => {
      const [leaseMs, wait] = row
      const store = memoryStore({ now: () => 0 })
      await store.claim({ subject: 'greeter/deployment/dep_1', leaseMs })
      expect((await refusal(createHost({ store }), created)).headers.get('retry-after')).toBe(wait)
    },
  )

  it.each([
    ['internal_error', created],
    ['outcome_unknown', { ...greet, deployment: { id: 'dep_1', outputs } }],
  ])(
    'shows nothing of a fault of the host but %s; the log has its redacted reason and place',
    async (code, event) => {
      const message = `Cannot read “${token}” of ada@example.com ${'x'.repeat(1_000)}`
      const host = createHost({ provider: failing(new TypeError(message)) })
      const problem = await refusal(host, event)
      expect(problem.code).toBe(code)
      expect(JSON.stringify(problem)).not.toContain('Cannot read')
      const words = /^(?=.{500}$)TypeError: Cannot read “\[redacted\]” of \[address\] x+$/
      const reason = expect.stringMatching(words)
      const at = expect.arrayContaining([expect.stringMatching(/^ +at /)])
      expect(host.lines.at(-1)?.facts).toMatchObject({ reason, at })
    },
  )

  it('of a result that JSON cannot hold is outcome_unknown', async () => {
    for (const about of [10n, { toJSON: () => 10n }]) {
      const issueKeys = vi.fn(async () => [{ key: issuedKey, about }])
      const { handle } = createHost({ handlers: { functions: { issueKeys } } })
      const send = () => deliver(handle, calling('issueKeys', { people: [] }), { id: 'evt_1' })
      const codes = [await send(), await send()].map(({ body }) => Object(body).code)
      expect(codes).toEqual(['outcome_unknown', 'outcome_unknown'])
      expect(issueKeys).toHaveBeenCalledOnce()
    }
  })

  it('of a shortage of the host may have come after the change, and the log names it', async () => {
    const host = createHost({ provider: failing(new Error('ENOSPC: no space left on device, write')) })
    expect((await refusal(host, greet)).code).toBe('outcome_unknown')
    expect(host.lines.at(-1)?.facts).toMatchObject({ code: 'outcome_unknown', shortage: 'ENOSPC' })
  })

  it.each([
    [14_999, undefined],
    [15_000, 'provider_timeout'],
  ])('of a change that would begin after %i ms is %s, because it might be cut', async (wait, code) => {
    vi.useFakeTimers({ toFake: ['Date'] })
    onTestFinished(() => void vi.useRealTimers())
    const fetch = vi.fn(async () => new Response())
    const provider = async (_: ProviderCall, context: HandlerContext) => {
      vi.setSystemTime(Date.now() + wait)
      await context.fetch('https://provider.test', { method: 'POST' })
    }
    const { body } = await deliver(createHost({ fetch, provider }).handle, count)
    expect(Object(body).code).toBe(code)
    expect(fetch).toHaveBeenCalledTimes(code ? 0 : 1)
  })
})

describe('the words of a provider', () => {
  it('are cut in problems, logs and callbacks, without a part of a secret or a control character', async () => {
    const message = `\u001b[2J\u0085\u2028${'x'.repeat(3_989)}${token}${'x'.repeat(1_000_000)}`
    const said = { name: 'greeter', status: 400, code: message, message }
    const error = new IntegrationError('provider_rejected', message, { hint: message, provider: said })
    const host = createHost({
      secrets: [token],
      async provider(_, { log }) {
        log.info(message, { quoted: message })
        throw error
      },
    })
    const bodies: unknown[] = []
    for (const event of [created, { name: 'HEALTH_CHECK', deployment: { id: 'dep_1' } }])
      bodies.push((await deliver(host.handle, event)).body)
    const written = [host.lines, host.platform.calls.map(({ body }) => body)].map((all) =>
      JSON.stringify(all),
    )
    for (const text of [...written, JSON.stringify(bodies)]) {
      expect(text.length).toBeLessThan(40_000)
      expect(text).not.toContain(token.slice(0, 5))
    }
    // Escaped by JSON alone, it would be one again when the platform reads it.
    expect(written.join()).not.toMatch(/(?<!\\)\\u001b|[\u0085\u2028]/)
  })

  it('lose their secrets in a problem, addresses as well on the platform, and are not in the host’s log', async () => {
    const words = `“canary words” to ada@example.com with ${token}`
    const error = new IntegrationError('credentials_rejected', `The provider refused: ${words}.`, {
      provider: { name: 'greeter', status: 422, message: words, code: token },
      hint: `Replace ${token}.`,
    })
    const { handle, platform, record, lines } = createHost({ provider: failing(error) })
    const { body } = await deliver(handle, created)
    const clean = '“canary words” to ada@example.com with [redacted]'
    expect(body).toMatchObject({ detail: `The provider refused: ${clean}. Replace [redacted].` })
    expect(record()?.logs.at(-1)?.message).toContain('“canary words” to [address] with [redacted]')
    expect(JSON.stringify([body, platform.calls.map((call) => call.body)])).not.toContain(token)
    expect(lines.at(-1)?.facts?.detail).toBe('The provider refused: …. Replace [redacted].')
    expect(JSON.stringify(lines)).not.toMatch(/canary|ada@example|token-/)
  })

  it('rename no field of a response that has the name of a secret', async () => {
    const provider = async ({ to }: ProviderCall) => {
      if (to === 'Bob') throw new IntegrationError('provider_rejected', 'No.')
    }
    const { handle } = createHost({ provider })
    const send = async (to: string, password: string) =>
      (await deliver(handle, calling('greet', { to, password }), { id: `evt_${to}` })).body
    // The second response is the recorded one.
    for (const _ of [1, 2]) {
      expect(await send('Ada', 'result')).toEqual({ result: { id: 'greeting-to-Ada' } })
      expect(await send('Bob', 'detail')).toMatchObject({ detail: 'No.', code: 'provider_rejected' })
    }
  })

  it('lose the host’s secrets in a successful result, also in base64, but no word that is a password', async () => {
    const secret = 'secret-of-the-host'
    const sendGreeting = async () => ({ id: `${secret}, Lovelace, ${btoa(`user:${secret}`)}` })
    const { handle } = createHost({ secrets: [secret], handlers: { functions: { sendGreeting } } })
    const { body } = await deliver(handle, calling('greet', { to: 'Ada', password: 'Lovelace' }))
    expect(body).toMatchObject({ result: { id: expect.stringContaining('[redacted], Lovelace, ') } })
    expect(JSON.stringify(body)).not.toContain(btoa(secret).slice(0, 20))
  })
})
