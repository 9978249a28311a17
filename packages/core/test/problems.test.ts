import { IntegrationError, memoryStore } from '@org/core'
import { deliver } from '@org/core/testing'
import { describe, expect, it } from 'vitest'
import { calling, created, createHost, deleted, failing, greet, outputs, refusal, token } from './fixtures.ts'

const failingWith = (...error: ConstructorParameters<typeof IntegrationError>) =>
  createHost({ provider: failing(new IntegrationError(...error)) })

describe('a problem', () => {
  it.each(['credentials_rejected', 'provider_rejected', 'provider_rate_limited', 'provider_error'] as const)(
    'has the provider’s refusal and the hint of %s, in every event',
    async (code) => {
      const provider = { name: 'greeter', status: 400, code: '17', message: 'No such person.' }
      const host = failingWith(code, 'It said no.', { hint: 'Ask again nicely.', provider })
      for (const event of [created, deleted, greet, calling('count')]) {
        const problem = await refusal(host, event)
        expect(problem).toMatchObject({ code, provider, detail: 'It said no. Ask again nicely.' })
        expect(problem.headers.get('retry-after')).toBeNull()
      }
    },
  )

  it('passes the provider’s Retry-After on, in whole seconds, if a retry can help', async () => {
    const host = failingWith('provider_rate_limited', 'Slow down.', { retryAfter: 6.2 })
    expect((await refusal(host, created)).headers.get('retry-after')).toBe('7')
    const final = failingWith('provider_rejected', 'No.', { retryAfter: 6.2 })
    expect((await refusal(final, created)).headers.get('retry-after')).toBeNull()
  })

  it.each([
    [400, '1'],
    [2_500, '3'],
    [60_000, '5'],
  ])(
    'of a delivery in progress with %i ms left asks to wait %s s: the work may end early',
    async (leaseMs, wait) => {
      const store = memoryStore({ now: () => 0 })
      await store.claim({ subject: 'greeter/deployment/dep_1', leaseMs })
      expect((await refusal(createHost({ store }), created)).headers.get('retry-after')).toBe(wait)
    },
  )

  it.each(['provider_timeout', 'provider_error'] as const)(
    'is outcome_unknown if a call with an effect fails with %s after the request left, and stays as it is for a read',
    async (code) => {
      const host = failingWith(code, 'The connection broke.', { effect: 'unknown' })
      expect(await refusal(host, greet)).toMatchObject({ status: 409, code: 'outcome_unknown' })
      expect(await refusal(host, calling('count'))).toMatchObject({ code, retryable: true })
    },
  )

  it.each(['internal_error', 'outcome_unknown'])('is never aborted, but %s', async (code) => {
    const host = failingWith('aborted', 'The caller ended the call.')
    expect((await refusal(host, code === 'internal_error' ? created : greet)).code).toBe(code)
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
  })
})

describe('the words of a provider', () => {
  const words = `“canary words” to ada@example.com with ${token}`
  const quoting = () =>
    failingWith('credentials_rejected', `The provider refused: ${words}.`, {
      provider: { name: 'greeter', status: 422, message: words, code: token },
      hint: `Replace ${token}.`,
    })

  it('lose their secrets in a problem, and addresses as well in the log of the platform', async () => {
    const { handle, platform, record } = quoting()
    const { body } = await deliver(handle, created)
    expect(body).toMatchObject({
      detail: 'The provider refused: “canary words” to ada@example.com with [redacted]. Replace [redacted].',
    })
    expect(record()?.logs.at(-1)?.message).toContain('“canary words” to [address] with [redacted]')
    expect(JSON.stringify([body, platform.calls.map((call) => call.body)])).not.toContain(token)
  })

  it('stay out of the host’s log, which keeps the rest of the sentence', async () => {
    const { handle, lines } = quoting()
    await deliver(handle, created)
    const messages = lines.map(({ message }) => message)
    expect(messages).toContain('DEPLOYMENT_CREATED: The provider refused: …. Replace [redacted].')
    expect(JSON.stringify(lines)).not.toMatch(/canary|ada@example|token-/)
  })

  it('lose the host’s secrets in a successful result, also in base64', async () => {
    const secret = 'secret-of-the-host'
    const { handle } = createHost({ secrets: [secret] })
    const { body } = await deliver(handle, calling('greet', { to: `${secret}, ${btoa(`user:${secret}`)}` }))
    expect(body).toMatchObject({ result: { id: expect.stringContaining('greeting-to-[redacted], ') } })
    expect(JSON.stringify(body)).not.toContain(btoa(secret).slice(0, 20))
  })

  it('keep a word in a result that is also a password among the arguments', async () => {
    const { handle } = createHost()
    const { body } = await deliver(handle, calling('greet', { to: 'Lovelace', password: 'Lovelace' }))
    expect(body).toEqual({ result: { id: 'greeting-to-Lovelace' } })
  })
})
