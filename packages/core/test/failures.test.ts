import { describe, expect, it } from 'vitest'
import {
  createVerifier,
  type ErrorCode,
  errorCodes,
  IntegrationError,
  type IntegrationErrorOptions,
  memoryStore,
} from '../src/index.ts'
import { deliver } from '../src/testing/index.ts'
import { calling, created, createHost, deleted, greeter, token } from './example.ts'
import { post, read, seen } from './problem.ts'

/** A host whose provider fails with an error. */
const failing = (code: ErrorCode, message = 'It failed.', options: IntegrationErrorOptions = {}) =>
  createHost({
    provider: async () => {
      throw new IntegrationError(code, message, options)
    },
  })

describe('a body that is no event', () => {
  it.each([
    { what: 'cut off', body: '{"name":' },
    { what: 'empty', body: '' },
    { what: 'not UTF-8', body: new Blob([new Uint8Array([0x22, 0xff, 0x22])]) },
  ])('is invalid_json where it is $what', async ({ body }) => {
    const { problem } = await post(createHost(), body)
    expect(problem).toMatchObject({ status: 400, code: 'invalid_json', retryable: false })
    expect(problem.errors).toBeUndefined()
  })

  it('is not quoted where it is not JSON', async () => {
    const { problem } = await post(createHost(), `{"name":"HEALTH_CHECK" "apiKey":"${token}"}`)
    expect(problem.detail).toMatch(/position 23/)
  })

  it.each([
    { what: 'a list', body: [], path: '' },
    { what: 'null', body: null, path: '' },
    { what: 'without a name', body: {}, path: 'name' },
    { what: 'of an unknown name', body: { name: 'DEPLOYMENT_CREATE' }, path: 'name' },
    { what: 'CREATED without a deployment', body: { name: 'DEPLOYMENT_CREATED' }, path: 'deployment' },
    { what: 'DELETED without a deployment', body: { name: 'DEPLOYMENT_DELETED' }, path: 'deployment' },
    { what: 'a call without a function', body: { name: 'FUNCTION_CALL' }, path: 'functionCall' },
  ])('is invalid_event where it is $what, and says where', async ({ body, path }) => {
    const { problem } = await post(createHost(), body)
    expect(problem).toMatchObject({ status: 400, code: 'invalid_event', retryable: false })
    expect(problem.errors?.map((error) => error.path)).toEqual([path])
  })

  it('is told the nearest name of an event', async () => {
    const { problem } = await post(createHost(), { name: 'HEALTHCHECK' })
    expect(problem.detail).toContain('did you mean “HEALTH_CHECK”?')
  })

  it('is invalid_event where it asks for a file that does not exist', async () => {
    const { problem } = await post(createHost(), {
      name: 'DOWNLOAD_STARTED',
      download: { file: 'midleware.ts' },
    })
    expect(problem).toMatchObject({ status: 400, code: 'invalid_event' })
    expect(problem.errors).toEqual([
      {
        path: 'download.file',
        message: 'expected one of .env.local, middleware.ts; did you mean “middleware.ts”?',
      },
    ])
  })
})

describe('a request that is refused before it is read', () => {
  it('is invalid_signature where it is not signed, also when it is not even JSON', async () => {
    const verify = createVerifier({ secrets: [`whsec_${btoa('the secret of this route')}`] })
    const { problem } = await post(createHost({ verify }), '{')
    expect(problem).toMatchObject({ status: 401, code: 'invalid_signature', retryable: false })
  })

  it.each(['GET', 'PUT', 'DELETE', 'OPTIONS'])(
    'is method_not_allowed with %s, and Allow names POST',
    async (method) => {
      const { handle } = createHost()
      const { problem, headers } = await read(await handle(new Request('http://host.test', { method })))
      expect(problem).toMatchObject({ status: 405, code: 'method_not_allowed', retryable: false })
      expect(headers.get('allow')).toBe('POST')
    },
  )

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp', ''])(
    'is unsupported_media_type with the content type “%s”',
    async (type) => {
      const { problem } = await post(createHost(), '{}', { 'content-type': type })
      expect(problem).toMatchObject({ status: 415, code: 'unsupported_media_type', retryable: false })
    },
  )

  it('is body_too_large by its Content-Length alone', async () => {
    const { problem } = await post(createHost({ bodyLimit: 100 }), '{}', { 'content-length': '101' })
    expect(problem).toMatchObject({ status: 413, code: 'body_too_large', retryable: false })
  })

  it('is body_too_large where it turns out longer than it said, and is not read to its end', async () => {
    let pulled = 0
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        pulled += 1
        controller.enqueue(new Uint8Array(60))
      },
    })
    const init: RequestInit & { duplex: 'half' } = {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'content-length': '10' },
      body,
      duplex: 'half',
    }
    const { handle } = createHost({ bodyLimit: 100 })
    const { problem } = await read(await handle(new Request('http://host.test', init)))
    expect(problem.code).toBe('body_too_large')
    expect(pulled).toBeLessThan(5)
  })

  it('may be as long as the limit', async () => {
    const event = JSON.stringify({ name: 'WEBHOOK_CHALLENGE' })
    const host = createHost({ bodyLimit: event.length })
    const request = { method: 'POST', headers: { 'content-type': 'application/json' }, body: event }
    expect((await host.handle(new Request('http://host.test', request))).status).toBe(200)
  })
})

describe('a call that does not fit', () => {
  it('is unknown_function, and names the nearest one, aliases included', async () => {
    const { problem } = await post(createHost(), calling('gret'))
    expect(problem).toMatchObject({ status: 404, code: 'unknown_function', retryable: false })
    expect(problem.detail).toContain('did you mean “greet”?')
  })

  it.each(['constructor', '__proto__', 'toString', 'hasOwnProperty'])(
    'is unknown_function where it names “%s”',
    async (name) => {
      expect((await post(createHost(), calling(name))).problem.code).toBe('unknown_function')
      const { problem } = await post(createHost(), calling(name), { 'webhook-id': 'msg_1' })
      expect(problem.code).toBe('unknown_function')
    },
  )

  it('is invalid_arguments, with the path of each fault', async () => {
    const host = createHost()
    const wrong = { too: 'Ada', people: [{ name: 'Bob' }, { nmae: 'Cy' }] }
    const { problem } = await post(host, calling('sendGreeting', wrong))
    expect(problem).toMatchObject({ status: 422, code: 'invalid_arguments', retryable: false })
    expect(problem.errors).toEqual([
      { path: 'to', message: 'is required: expected string' },
      { path: 'people[1].name', message: 'is required: expected string' },
      { path: 'people[1].nmae', message: 'is not known here' },
      { path: 'too', message: 'is not known here; did you mean “to”?' },
    ])
    expect(host.asked).toEqual([])
  })

  it('is invalid_inputs, with the path of each fault', async () => {
    const inputs = { token, region: 'mars', contacts: [{ name: 7 }] }
    const { problem } = await post(createHost(), { ...created, deployment: { id: 'dep_1', inputs } })
    expect(problem).toMatchObject({ status: 422, code: 'invalid_inputs', retryable: false })
    expect(problem.errors?.map(({ path }) => path)).toEqual([
      'deployment.inputs.region',
      'deployment.inputs.contacts[0].name',
    ])
  })

  it('is invalid_inputs where a reference can’t be resolved, and names the variable', async () => {
    const inputs = { token: '{{env.NOT_HERE}}' }
    const { problem } = await post(createHost(), { ...created, deployment: { id: 'dep_1', inputs } })
    expect(problem).toMatchObject({ status: 422, code: 'invalid_inputs' })
    expect(problem.errors?.[0]?.path).toBe('deployment.inputs.token')
    expect(problem.errors?.[0]?.message).toContain('NOT_HERE')
  })

  it('is missing_credentials where there are none', async () => {
    const host = createHost()
    const { problem } = await post(host, { ...created, deployment: { id: 'dep_1', inputs: {} } })
    expect(problem).toMatchObject({ status: 422, code: 'missing_credentials', retryable: false })
  })
})

describe('a provider that', () => {
  const refusal = { name: 'greeter', status: 400, code: '17', message: 'No such person.' }

  it.each([
    { does: 'rejects the credentials', code: 'credentials_rejected', status: 422, retryable: false },
    { does: 'rejects the request', code: 'provider_rejected', status: 422, retryable: false },
    { does: 'asks to slow down', code: 'provider_rate_limited', status: 429, retryable: true },
    { does: 'fails', code: 'provider_error', status: 502, retryable: true },
    { does: 'does not answer in time', code: 'provider_timeout', status: 504, retryable: true },
  ] as const)('$does is answered with $status $code', async ({ code, status, retryable }) => {
    const host = failing(code, 'It said no.', { hint: 'Ask again nicely.', provider: refusal })
    for (const event of [created, deleted, calling('sendGreeting', { to: 'Ada' }), calling('count')]) {
      const { problem, headers } = await post(host, event)
      expect(problem).toMatchObject({ status, code, retryable, provider: refusal })
      expect(problem.detail).toBe('It said no. Ask again nicely.')
      expect(headers.get('retry-after')).toBeNull()
    }
  })

  it('says when to come back has that passed on, in whole seconds', async () => {
    const { headers } = await post(
      failing('provider_rate_limited', 'Slow down.', { retryAfter: 6.2 }),
      created,
    )
    expect(headers.get('retry-after')).toBe('7')
  })

  it('quotes the secret in what it says does not give it away', async () => {
    const provider = { name: 'greeter', message: `Key ${token} is not valid`, code: token }
    const host = failing('credentials_rejected', `No: ${token}.`, { hint: `Replace ${token}.`, provider })
    const { problem } = await post(host, created)
    expect(problem.detail).toBe('No: [redacted]. Replace [redacted].')
    expect(JSON.stringify([host.lines, host.platform.calls.map(({ body }) => body)])).not.toContain(token)
  })

  it('may have acted before it failed is not asked again: outcome_unknown', async () => {
    for (const code of ['provider_timeout', 'provider_error'] as const) {
      const host = failing(code, 'The connection broke.', { sent: 'unknown' })
      const { problem } = await post(host, calling('sendGreeting', { to: 'Ada' }))
      expect(problem).toMatchObject({ status: 409, code: 'outcome_unknown', retryable: false })
    }
  })

  it('may have got a reading call before it failed can be asked again', async () => {
    const host = failing('provider_timeout', 'Too slow.', { sent: 'unknown' })
    expect((await post(host, calling('count'))).problem).toMatchObject({ status: 504, retryable: true })
  })
})

describe('a host that', () => {
  const broken = () =>
    createHost({
      provider: async () => {
        throw new TypeError(`Cannot read “${token}” of undefined`)
      },
    })

  it('has a fault answers internal_error, which tells nothing', async () => {
    const { problem } = await post(broken(), created)
    expect(problem).toMatchObject({ status: 500, code: 'internal_error', retryable: true })
    expect(JSON.stringify(problem)).not.toContain('undefined')
  })

  it('has a fault writes the reason into its log, without the secret', async () => {
    const host = broken()
    await post(host, created)
    expect(host.lines.at(-1)?.facts).toMatchObject({
      code: 'internal_error',
      reason: 'TypeError: Cannot read “[redacted]” of undefined',
    })
    expect(JSON.stringify(host.lines)).not.toContain(token)
  })

  it('has a fault in the middle of an effect answers outcome_unknown', async () => {
    const host = broken()
    const { problem } = await post(host, calling('sendGreeting', { to: 'Ada' }))
    expect(problem).toMatchObject({ status: 409, code: 'outcome_unknown', retryable: false })
    expect(host.lines.at(-1)?.facts?.reason).toContain('Cannot read')
  })

  it('can’t publish the outputs answers platform_unavailable', async () => {
    const host = createHost()
    host.platform.faults.add({ path: /outputs$/, status: 503 })
    const { problem } = await post(host, created)
    expect(problem).toMatchObject({ status: 502, code: 'platform_unavailable', retryable: true })
  })

  it('can’t reach its store answers overloaded, with Retry-After', async () => {
    const store = { ...memoryStore(), claim: () => Promise.reject(new Error('ECONNREFUSED')) }
    const { problem, headers } = await post(createHost({ store }), created)
    expect(problem).toMatchObject({ status: 503, code: 'overloaded', retryable: true })
    expect(headers.get('retry-after')).toBe('5')
  })

  it('works on a delivery already answers delivery_in_progress, with Retry-After', async () => {
    const store = memoryStore()
    await store.claim({ subject: `${greeter.name}/deployment/dep_1`, leaseMs: 2_500 })
    const { problem, headers } = await post(createHost({ store }), created)
    expect(problem).toMatchObject({ status: 409, code: 'delivery_in_progress', retryable: true })
    expect(headers.get('retry-after')).toBe('3')
  })

  it('got an id before, with another body, answers invalid_event as 422', async () => {
    const host = createHost()
    await deliver(host.handle, created, { id: 'msg_1' })
    const { problem } = await post(host, deleted, { 'webhook-id': 'msg_1' })
    expect(problem).toMatchObject({ status: 422, code: 'invalid_event', retryable: false })
  })
})

// Last in the file on purpose: it looks back on the others.
it('every code of the contract occurs above, but for the two that only a whole host answers', () => {
  const ofTheHost: ErrorCode[] = ['not_found', 'shutting_down']
  const all = Object.keys(errorCodes).filter((code) => !ofTheHost.some((other) => other === code))
  expect([...seen].sort()).toEqual(all.sort())
})
