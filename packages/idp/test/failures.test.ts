import { inspect } from 'node:util'
import type { Fault } from '@org/core/testing'
import { describe, expect, it, vi } from 'vitest'
import type { IdpClient, IdpClientOptions, IntegrationError } from '../src/index.ts'
import { asFault, internalError, parameterReason, Refusal, rateLimited } from '../src/testing/index.ts'
import { deadUrl, failureOf, runIdp } from './support.ts'

const fixture = runIdp()
const { backend, requests, waits } = fixture

const ada = { emailAddress: 'ada@example.com', firstName: 'Ada', password: 'a long pass phrase' }

/** Makes a failing call, and checks that its error contains no secret. */
async function fail(
  call: (idp: IdpClient) => Promise<unknown>,
  options: Partial<IdpClientOptions> = {},
): Promise<IntegrationError> {
  const error = await failureOf(call(fixture.client(options)))
  expect(inspect(error, { depth: null })).not.toMatch(/@example|sk_test_|pass phrase/)
  return error
}

const create = (idp: IdpClient) => idp.createUser(ada)
const count = (idp: IdpClient) => idp.countUsers()
const readAndChange: [string, (idp: IdpClient) => Promise<unknown>][] = [
  ['a read', count],
  ['a change', create],
]
const rejected = { code: 'provider_rejected', status: 422, retryable: false, effect: 'none' }

describe('a refusal', () => {
  it.each(readAndChange)('of the key has advice: %s', async (_what, call) => {
    backend.instance.settings.secretKeyRevoked = true
    expect(await fail(call)).toMatchObject({
      ...rejected,
      code: 'credentials_rejected',
      hint: expect.stringContaining('secret key'),
      provider: { name: 'idp', status: 401, code: 'clerk_key_invalid' },
    })
    expect([requests.length, backend.users.size]).toEqual([1, 0])
  })

  it('of an id has the provider’s code and message', async () => {
    const message = 'No user was found with id user_nobody'
    expect(await fail((idp) => idp.getUser('user_nobody'))).toMatchObject({
      ...rejected,
      hint: 'Check the id.',
      message: expect.stringContaining(message),
      provider: { status: 404, code: 'resource_not_found', message },
    })
  })

  it('of a field has the provider’s code and message, without the mail addresses', async () => {
    const words = 'The address ada@example.com, or Ada <ada@example.com>, is taken.'
    const error = parameterReason('form_identifier_exists', 'email_address', 'taken', words)
    backend.faults.add(asFault(new Refusal(422, error)))
    expect(await fail(create)).toMatchObject({
      ...rejected,
      hint: expect.stringContaining('listUsers'),
      message: expect.stringContaining('The address [address], or Ada <[address]>, is taken.'),
      provider: { status: 422, code: 'form_identifier_exists' },
    })
    expect(requests).toHaveLength(1)
  })

  it('with several errors has the first, even if the others are invalid', async () => {
    const errors = [{ code: 'first', message: 'Short.', long_message: '' }, { nonsense: true }, 7]
    backend.faults.add({ status: 400, body: { errors } })
    expect(await fail(create)).toMatchObject({ provider: { status: 400, code: 'first', message: 'Short.' } })
  })

  it.each<[string, Fault, number]>([
    ['a page with 403', { html: true, status: 403 }, 403],
    ['404 without a body', { status: 404 }, 404],
    ['an empty list of errors', { status: 409, body: { errors: [] } }, 409],
  ])('in an unknown format points at the base URL: %s', async (_what, fault, status) => {
    backend.faults.add(fault)
    expect(await fail(create)).toMatchObject({
      ...rejected,
      message: expect.stringContaining('base URL'),
      provider: { status, code: undefined },
    })
    expect(requests).toHaveLength(1)
  })
})

it('a rate limit beyond the time limit fails at once, with the time to wait', async () => {
  backend.faults.add(rateLimited(120))
  expect(await fail(create)).toMatchObject({
    code: 'provider_rate_limited',
    status: 429,
    retryable: true,
    effect: 'none',
    retryAfter: 120,
    provider: { status: 429, code: 'too_many_requests' },
  })
  expect([waits, requests.length, backend.users.size]).toEqual([[], 1, 0])
})

it('a change is retried after a rate limit within its time, which had no effect', async () => {
  backend.faults.add(rateLimited(7), rateLimited(9))
  await create(fixture.client())
  expect([waits, requests.length, backend.users.size]).toEqual([[7_000, 9_000], 3, 1])
})

it('a change is retried after a refused connection, which had no effect', async () => {
  expect(await fail(create, { baseUrl: await deadUrl() })).toMatchObject({
    code: 'provider_error',
    status: 502,
    retryable: true,
    effect: 'none',
    provider: { name: 'idp', status: undefined },
  })
  expect(waits).toHaveLength(2)
})

/** A fault, the number of users that it creates, and the error of a read that meets it at every attempt. */
const faults: [string, Fault, number, string][] = [
  ['a connection that breaks before the request', { cut: 'before' }, 0, 'provider_error'],
  ['a connection that breaks after the request', { cut: 'after' }, 1, 'provider_error'],
  ['a connection that breaks in the response', { cut: 'during' }, 1, 'provider_error'],
  ['408', { status: 408 }, 0, 'provider_timeout'],
  ['500', internalError(), 0, 'provider_error'],
  ['500 with an effect', { status: 500, takesEffect: true }, 1, 'provider_error'],
  ['502', { status: 502 }, 0, 'provider_error'],
  ['503 with Retry-After', { status: 503, headers: { 'retry-after': '5' } }, 0, 'provider_error'],
  ['504 with an effect', { status: 504, takesEffect: true }, 1, 'provider_error'],
  ['a page with 200', { html: true }, 0, 'provider_error'],
  ['half a response', { truncate: true }, 1, 'provider_error'],
]

describe('a change with an unknown outcome is not retried after', () => {
  it.each<[string, Fault, number, string?]>([
    ...faults,
    ['a timeout without an effect', { hang: true }, 0],
    ['a timeout with an effect', { hang: 'after' }, 1],
    ['an empty response with 200', { empty: true }, 1],
    ['a response of another endpoint', { status: 200, body: { id: 7 }, takesEffect: true }, 1],
  ])('%s', async (_what, fault, created) => {
    backend.faults.add(fault)
    expect(await fail(create, { timeoutMs: 'hang' in fault ? 100 : undefined })).toMatchObject({
      code: 'outcome_unknown',
      status: 409,
      retryable: false,
      effect: 'unknown',
      retryAfter: undefined,
      message: expect.stringContaining('whether the change was made'),
    })
    expect([requests.length, backend.users.size, waits]).toEqual([1, created, []])
  })

  it.each<[string, (idp: IdpClient) => Promise<unknown>]>([
    ['updateUser', (idp) => idp.updateUser('user_1', { firstName: 'Ada' })],
    ['deleteUser', (idp) => idp.deleteUser('user_1')],
    ['createOrganization', (idp) => idp.createOrganization({ name: 'Shop' })],
  ])('500 to %s', async (_name, call) => {
    backend.faults.add({ status: 500 })
    expect(await fail(call)).toMatchObject({ code: 'outcome_unknown' })
    expect(requests).toHaveLength(1)
  })

  it('an abort by its caller', async () => {
    backend.faults.add({ hang: 'after' })
    const controller = new AbortController()
    fixture.atRequest(1, () => controller.abort())
    const error = await fail((idp) => idp.createUser(ada, { signal: controller.signal }))
    expect(error).toMatchObject({ code: 'outcome_unknown', effect: 'unknown' })
    expect(requests).toHaveLength(1)
  })
})

describe('a read', () => {
  it.each(faults)('is retried after %s, up to three attempts', async (_what, fault, _created, code) => {
    backend.faults.add(fault)
    expect(await fixture.client().countUsers()).toBe(0)
    expect([requests.length, waits.length]).toEqual([2, 1])
    backend.faults.add({ ...fault, times: 3 })
    expect(await fail(count)).toMatchObject({ code, retryable: true, effect: 'none' })
    expect(requests).toHaveLength(5)
  })

  it.each<[string, Fault]>([
    ['an empty response with 200', { empty: true }],
    ['a response of another endpoint', { status: 200, body: { hello: 'world' } }],
  ])('is not retried after %s', async (_what, fault) => {
    backend.faults.add(fault)
    expect(await fail(count)).toMatchObject({ code: 'provider_error', hint: 'Check the base URL.' })
    expect(requests).toHaveLength(1)
  })

  it('ends at its time limit', async () => {
    backend.faults.add({ hang: true })
    const error = await fail((idp) => idp.countUsers({}, { timeoutMs: 100 }))
    expect(error).toMatchObject({ code: 'provider_timeout', status: 504, retryable: true, effect: 'none' })
  })
})

describe('a call that its caller aborts', () => {
  const reason = new Error('the user went away')

  it('rejects with the caller’s reason before the request', async () => {
    const creating = fixture.client().createUser(ada, { signal: AbortSignal.abort(reason) })
    await expect(creating).rejects.toBe(reason)
    expect(requests).toEqual([])
  })

  it('rejects with the caller’s reason during a read', async () => {
    backend.faults.add({ hang: true })
    const controller = new AbortController()
    fixture.atRequest(1, () => controller.abort(reason))
    await expect(fixture.client().countUsers({}, { signal: controller.signal })).rejects.toBe(reason)
  })
})

it('a change whose time is over before it begins is retryable, and sends nothing', async () => {
  const error = await fail((idp) => idp.createUser(ada, { timeoutMs: 0 }))
  expect(error).toMatchObject({ code: 'provider_timeout', retryable: true, effect: 'none' })
  expect(requests).toEqual([])
})

it('a change may use the whole time limit in one attempt', async () => {
  const timers = vi.spyOn(globalThis, 'setTimeout')
  await fixture.client({ timeoutMs: 60_000 }).createUser(ada)
  const lengths = timers.mock.calls.map(([, milliseconds = 0]) => milliseconds)
  timers.mockRestore()
  expect(lengths.some((length) => length > 50_000 && length <= 60_000)).toBe(true)
})

it.each(['', ' ', 'sk_test_one\nsk_test_two', 'sk_test_…'])(
  'a key that no header can hold is reported as missing: %j',
  async (secretKey) => {
    expect(await fail((idp) => idp.getInstance(), { secretKey })).toMatchObject({
      code: 'missing_credentials',
      retryable: false,
      effect: 'none',
    })
    expect(requests).toEqual([])
  },
)
