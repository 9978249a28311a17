/** Failures of the provider, and what the client says and repeats. */
import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import type { IdpClient, IdpClientOptions, IntegrationError } from '../src/index.ts'
import { asFault, parameterReason, Refusal, rateLimited } from '../src/testing/index.ts'
import { failureOf, runIdp } from './support.ts'

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
const rejected = { code: 'provider_rejected', status: 422, retryable: false, effect: 'none' }

describe('a refusal', () => {
  it('of the key has advice', async () => {
    backend.removeInstance(backend.instance.id)
    expect(await fail(create)).toMatchObject({
      ...rejected,
      code: 'credentials_rejected',
      hint: expect.stringContaining('secret key'),
      provider: { name: 'idp', status: 401, code: 'clerk_key_invalid' },
    })
    expect(requests).toHaveLength(1)
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

  it('leaves out errors and a trace id in an unknown format', async () => {
    const first = { code: 'first', message: 'Short.', long_message: '' }
    const errors = [first, { nonsense: true }, 7, { code: 'x' }]
    backend.faults.add({ status: 400, body: { errors, clerk_trace_id: 'ada@example.com' } })
    const error = await fail(create)
    expect(error.provider).toEqual({ name: 'idp', status: 400, code: 'first', message: 'Short.' })
    expect(error.errors).toEqual(['Short.', 'x'].map((message) => ({ path: '', message })))
  })

  it('by a gateway is retryable, and points at the base URL', async () => {
    backend.faults.add({ html: true, status: 403 })
    expect(await fail(create)).toMatchObject({
      ...{ code: 'provider_error', retryable: true, effect: 'none' },
      message: expect.stringContaining('base URL'),
      provider: { status: 403, code: undefined },
    })
    expect(requests).toHaveLength(1)
  })
})

it('a change is retried after a rate limit within its time, which had no effect', async () => {
  backend.faults.add(rateLimited(7), rateLimited(9))
  await create(fixture.client())
  expect([waits, requests.length, backend.users.size]).toEqual([[7_000, 9_000], 3, 1])
})

it('every method takes a signal, and is aborted by it before it sends anything', async () => {
  const reason = new Error('the user went away')
  const options = { signal: AbortSignal.abort(reason) }
  const idp = fixture.client()
  const calls = [
    idp.createUser(ada, options),
    idp.getUser('user_1', options),
    idp.listUsers({}, options),
    idp.iterateUsers({}, options).next(),
    idp.updateUser('user_1', {}, options),
    idp.deleteUser('user_1', options),
    idp.countUsers({}, options),
    idp.createOrganization({ name: 'Shop' }, options),
    idp.listOrganizations({}, options),
    idp.getInstance(options),
    idp.listDomains(options),
  ]
  const aborted = { reason: { code: 'aborted', effect: 'none', cause: reason } }
  expect(await Promise.allSettled(calls)).toMatchObject(calls.map(() => aborted))
  expect(requests).toEqual([])
})

it.each(['', 'sk_test_one\nsk_test_two'])('the invalid key %j is reported as missing', async (secretKey) => {
  const message = 'The secret key is missing, or contains an invalid character.'
  const error = { code: 'missing_credentials', retryable: false, effect: 'none', message }
  expect(await fail((idp) => idp.getInstance(), { secretKey })).toMatchObject(error)
  expect(requests).toEqual([])
})

describe('the emulator refuses what the client would never send', () => {
  it.each<[number, string, string, string, object]>([
    [422, 'form_param_unknown', 'POST /users', '{"emailAddress":"ada@example.com"}', {}],
    [422, 'form_param_unknown', 'GET /users?emailAddress=a@b.co', '', {}],
    [422, 'form_param_type_invalid', 'POST /users', '{"email_address":"ada@example.com"}', {}],
    [422, 'form_param_missing', 'POST /organizations', '{}', {}],
    [400, 'request_body_invalid', 'POST /users', '[]', {}],
    [404, 'resource_not_found', 'PUT /users', '', {}],
    [400, 'api_version_invalid', 'GET /users', '', { 'clerk-api-version': '2025-11-10' }],
    [422, 'form_param_value_invalid', 'GET /users?order_by=password', '', {}],
    [422, 'form_resource_not_found', 'GET /users?starting_after=user_none', '', {}],
    [422, 'form_conditional_param_disallowed', 'GET /users?starting_after=user_1&offset=1', '', {}],
  ])('%i %s: %s %s %j', async (status, code, line, body, others) => {
    backend.instance.createUser({ id: 'user_1' })
    const [method = '', path] = line.split(' ')
    const headers = {
      authorization: `Bearer ${backend.instance.secretKey}`,
      'clerk-api-version': '2026-05-12',
      'content-type': 'application/json',
      ...others,
    }
    const response = await fetch(fixture.url() + path, { method, headers, body: body || null })
    expect([response.status, await response.json()]).toMatchObject([status, { errors: [{ code }] }])
  })
})
