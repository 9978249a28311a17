import { createVerifier, type ErrorCode, IntegrationError, memoryStore } from '@org/core'
import { errorCodes } from '@org/core/internal'
import { deliver } from '@org/core/testing'
import { describe, expect, it } from 'vitest'
import { calling, created, createHost, deleted, failing, greet, outputs, refusal, token } from './fixtures.ts'

const refused = { name: 'greeter', status: 400, code: '17', message: 'No such person.' }
const failingWith = (...error: ConstructorParameters<typeof IntegrationError>) =>
  createHost({ provider: failing(new IntegrationError(...error)) })
const broken = () => createHost({ provider: failing(new TypeError(`Cannot read “${token}” of undefined`)) })
const createdWith = (inputs: object) => ({ ...created, deployment: { id: 'dep_1', inputs } })

/** A host that gets the problem of its provider, whatever it was providerCalls. */
async function ofProvider(code: ErrorCode) {
  const host = failingWith(code, 'It said no.', { hint: 'Ask again nicely.', provider: refused })
  const [problem, ...others] = [
    await refusal(host, created),
    await refusal(host, deleted),
    await refusal(host, greet),
    await refusal(host, calling('count')),
  ]
  for (const each of [problem, ...others]) {
    expect(each).toMatchObject({ code, provider: refused, detail: 'It said no. Ask again nicely.' })
    expect(each.headers.get('retry-after')).toBeNull()
  }
  return problem
}

/** How each code comes about. Its status and its meaning for a retry are those of the README. */
const occurrences: Record<Exclude<ErrorCode, 'not_found' | 'shutting_down'>, () => Promise<object>> = {
  invalid_json: () => refusal(createHost(), '{'),
  invalid_event: () => refusal(createHost(), {}),
  invalid_signature: () => refusal(createHost({ verify: createVerifier({ secrets: [] }) }), created),
  unknown_function: () => refusal(createHost(), calling('nothing')),
  method_not_allowed: () => refusal({ ...createHost(), handle: put(createHost()) }, created),
  delivery_in_progress: async () => {
    const store = memoryStore()
    await store.claim({ subject: 'greeter/deployment/dep_1', leaseMs: 2_500 })
    const problem = await refusal(createHost({ store }), created)
    expect(problem.headers.get('retry-after')).toBe('3')
    return problem
  },
  outcome_unknown: () => refusal(broken(), greet),
  body_too_large: () => refusal(createHost({ bodyLimit: 1 }), '{}'),
  unsupported_media_type: () => refusal(createHost(), '{}', { 'content-type': 'text/plain' }),
  invalid_inputs: async () => {
    const inputs = { token, region: 'mars', contacts: [{ name: 7 }] }
    const problem = await refusal(createHost(), createdWith(inputs))
    expect(problem.errors?.map(({ path }) => path)).toEqual([
      'deployment.inputs.region',
      'deployment.inputs.contacts[0].name',
    ])
    return problem
  },
  invalid_arguments: () => refusal(createHost(), calling('greet')),
  missing_credentials: () => refusal(createHost(), createdWith({})),
  credentials_rejected: () => ofProvider('credentials_rejected'),
  provider_rejected: () => ofProvider('provider_rejected'),
  provider_rate_limited: () => ofProvider('provider_rate_limited'),
  internal_error: () => refusal(broken(), created),
  provider_error: () => ofProvider('provider_error'),
  platform_unavailable: () => {
    const host = createHost()
    host.platform.faults.add({ path: /outputs$/, status: 503 })
    return refusal(host, created)
  },
  overloaded: async () => {
    const store = { ...memoryStore(), claim: () => Promise.reject(new Error('ECONNREFUSED')) }
    const problem = await refusal(createHost({ store }), created)
    expect(problem.headers.get('retry-after')).toBe('5')
    return problem
  },
  provider_timeout: () => ofProvider('provider_timeout'),
}

function put({ handle }: ReturnType<typeof createHost>) {
  return (request: Request) => handle(new Request(request, { method: 'PUT' }))
}

describe('a problem', () => {
  it.each(Object.entries(occurrences))('has the status and the retryability of %s', async (code, occur) => {
    const { status, retryable } = Object.entries(errorCodes).find(([name]) => name === code)?.[1] ?? {}
    expect(await occur()).toMatchObject({ code, status, retryable })
  })

  it('passes the provider’s Retry-After on, in whole seconds', async () => {
    const host = failingWith('provider_rate_limited', 'Slow down.', { retryAfter: 6.2 })
    expect((await refusal(host, created)).headers.get('retry-after')).toBe('7')
  })

  it.each(['provider_timeout', 'provider_error'] as const)(
    'is outcome_unknown if a call with an effect fails with %s after the request left, and stays as it is for a read',
    async (code) => {
      const host = failingWith(code, 'The connection broke.', { effect: 'unknown' })
      expect(await refusal(host, greet)).toMatchObject({ status: 409, code: 'outcome_unknown' })
      expect(await refusal(host, calling('count'))).toMatchObject({ code, retryable: true })
    },
  )

  it('tells nothing of a fault of the host, whose reason goes to the log without the secret', async () => {
    for (const event of [created, { ...greet, deployment: { id: 'dep_1', outputs } }]) {
      const host = broken()
      expect(JSON.stringify(await refusal(host, event))).not.toContain('undefined')
      expect(host.lines.at(-1)?.facts?.reason).toBe('TypeError: Cannot read “[redacted]” of undefined')
    }
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
