import { IntegrationError, memoryStore } from '@org/core'
import { deliver } from '@org/core/testing'
import { describe, expect, it } from 'vitest'
import { calling, created, createHost, deleted, failing, greet, outputs, refusal, token } from './fixtures.ts'

const failingWith = (...error: ConstructorParameters<typeof IntegrationError>) =>
  createHost({ provider: failing(new IntegrationError(...error)) })

describe('a problem', () => {
  it.each([created, deleted, greet, calling('count')])(
    'has the provider’s refusal and the hint, in every event: %j',
    async (event) => {
      const provider = { name: 'greeter', status: 400, code: '17', message: 'No such person.' }
      const host = failingWith('provider_rejected', 'It said no.', {
        hint: 'Ask nicely.',
        provider,
        retryAfter: 6,
      })
      const problem = await refusal(host, event)
      expect(problem).toMatchObject({
        code: 'provider_rejected',
        provider,
        detail: 'It said no. Ask nicely.',
      })
      expect(problem.headers.get('retry-after')).toBeNull()
    },
  )

  it('passes the provider’s Retry-After on, in whole seconds, if a retry can help', async () => {
    const host = failingWith('provider_rate_limited', 'Slow down.', { retryAfter: 6.2 })
    expect((await refusal(host, created)).headers.get('retry-after')).toBe('7')
  })

  it.each([
    [400, '1'],
    [2_500, '3'],
    [60_000, '5'],
  ])(
    'of a delivery in progress with %i ms left asks to wait %s s, because it may end early',
    async (leaseMs, wait) => {
      const store = memoryStore({ now: () => 0 })
      await store.claim({ subject: 'greeter/deployment/dep_1', leaseMs })
      expect((await refusal(createHost({ store }), created)).headers.get('retry-after')).toBe(wait)
    },
  )

  it('is outcome_unknown if a call with an effect fails after the request left, and as it is for a read', async () => {
    const host = failingWith('provider_timeout', 'The connection broke.', { effect: 'unknown' })
    expect(await refusal(host, greet)).toMatchObject({ status: 409, code: 'outcome_unknown' })
    expect(await refusal(host, calling('count'))).toMatchObject({ code: 'provider_timeout', retryable: true })
  })

  it.each([
    ['internal_error', created],
    ['outcome_unknown', { ...greet, deployment: { id: 'dep_1', outputs } }],
  ])('shows nothing of a fault of the host but %s; the log has its redacted reason', async (code, event) => {
    const host = createHost({ provider: failing(new TypeError(`Cannot read “${token}” of undefined`)) })
    const problem = await refusal(host, event)
    expect(problem.code).toBe(code)
    expect(JSON.stringify(problem)).not.toContain('undefined')
    expect(host.lines.at(-1)?.facts?.reason).toBe('TypeError: Cannot read “[redacted]” of undefined')
    const aborted = failingWith('aborted', 'The caller ended the call.')
    expect((await refusal(aborted, event)).code).toBe(code)
  })

  it('has the beginning of what a provider said, and no part of a secret', async () => {
    const message = `${'x'.repeat(3_995)}${token}${'x'.repeat(1_000_000)}`
    const provider = { name: 'greeter', status: 400, code: message, message }
    const error = new IntegrationError('provider_rejected', message, { hint: message, provider })
    const host = createHost({ secrets: [token], provider: failing(error) })
    for (const event of [greet, { name: 'HEALTH_CHECK', deployment: { id: 'dep_1' } }]) {
      const text = JSON.stringify((await deliver(host.handle, event)).body)
      expect(text.length).toBeLessThan(20_000)
      expect(text).not.toContain(token.slice(0, 5))
    }
  })
})

describe('the words of a provider', () => {
  it('lose their secrets in a problem, addresses as well on the platform, and are not in the host’s log', async () => {
    const words = `“canary words” to ada@example.com with ${token}`
    const { handle, platform, record, lines } = failingWith(
      'credentials_rejected',
      `The provider refused: ${words}.`,
      {
        provider: { name: 'greeter', status: 422, message: words, code: token },
        hint: `Replace ${token}.`,
      },
    )
    const { body } = await deliver(handle, created)
    const clean = '“canary words” to ada@example.com with [redacted]'
    expect(body).toMatchObject({ detail: `The provider refused: ${clean}. Replace [redacted].` })
    expect(record()?.logs.at(-1)?.message).toContain('“canary words” to [address] with [redacted]')
    expect(JSON.stringify([body, platform.calls.map((call) => call.body)])).not.toContain(token)
    const messages = lines.map(({ message }) => message)
    expect(messages).toContain('DEPLOYMENT_CREATED: The provider refused: …. Replace [redacted].')
    expect(JSON.stringify(lines)).not.toMatch(/canary|ada@example|token-/)
  })

  it('lose the host’s secrets in a successful result, also in base64, but no word that is a password', async () => {
    const secret = 'secret-of-the-host'
    const { handle } = createHost({ secrets: [secret] })
    const to = `${secret}, Lovelace, ${btoa(`user:${secret}`)}`
    const { body } = await deliver(handle, calling('greet', { to, password: 'Lovelace' }))
    expect(body).toMatchObject({
      result: { id: expect.stringContaining('greeting-to-[redacted], Lovelace, ') },
    })
    expect(JSON.stringify(body)).not.toContain(btoa(secret).slice(0, 20))
  })
})
