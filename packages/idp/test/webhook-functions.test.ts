import { describe, expect, it } from 'vitest'
import { asFault, parameterReason, Refusal, reason } from '../src/testing/index.ts'
import { runWebhook } from './webhook-support.ts'

const fixture = runWebhook()
const { backend, requests, platform, shared, own, call, send, callers } = fixture
const ada = { emailAddress: 'ada@example.com', firstName: 'Ada', password: 'a long pass phrase' }

describe.each([
  ['without a deployment, on the shared application', shared, {}],
  ['with a deployment, on its own application', own, { deployment: { id: 'dep_1' } }],
])('FUNCTION_CALL %s', (_where, instance, named) => {
  const run = async (name: string, given: object) => {
    platform.addDeployment({ id: 'dep_1', inputs: fixture.ownInputs })
    const { body } = await send({ name: 'FUNCTION_CALL', functionCall: { name, arguments: given }, ...named })
    expect(body).toHaveProperty('result')
    return typeof body === 'object' && body !== null && 'result' in body ? body.result : undefined
  }

  it('creates, reads, lists, counts, changes and deletes users', async () => {
    const created = await run('createUser', {
      ...ada,
      lastName: 'Lovelace',
      publicMetadata: { plan: 'free' },
    })
    const [userId = ''] = instance.users.keys()
    expect(created).toMatchObject({
      id: userId,
      emailAddress: 'ada@example.com',
      firstName: 'Ada',
      lastName: 'Lovelace',
      username: null,
      publicMetadata: { plan: 'free' },
    })
    expect(await run('getUser', { userId })).toEqual(created)
    expect(await run('listUsers', { limit: 1, emailAddress: ['ada@example.com'] })).toEqual({
      data: [created],
      totalCount: 1,
      nextCursor: null,
    })
    expect(await run('countUsers', { query: 'nobody' })).toEqual({ count: 0 })
    expect(await run('countUsers', {})).toEqual({ count: 1 })
    const changes = { firstName: 'Augusta', publicMetadata: { beta: true } }
    expect(await run('updateUser', { userId, ...changes })).toMatchObject({
      firstName: 'Augusta',
      lastName: 'Lovelace',
      publicMetadata: { plan: 'free', beta: true },
    })
    expect(await run('updateUser', { userId })).toMatchObject({ firstName: 'Augusta' })
    expect(requests.at(-1)).toMatchObject({ method: 'GET', path: `/users/${userId}` })
    expect(await run('deleteUser', { userId })).toEqual({ id: userId, deleted: true })
    expect(instance.users.size).toBe(0)
    expect(new Set(callers())).toEqual(new Set([instance.id]))
  })

  it('creates and lists organizations', async () => {
    const { id: createdBy } = instance.createUser()
    const created = await run('createOrganization', { name: 'Shop', createdBy, maxAllowedMemberships: 0 })
    expect(created).toMatchObject({ name: 'Shop', createdBy, membersCount: null })
    const [id] = instance.organizations.keys()
    expect(await run('listOrganizations', { includeMembersCount: true, orderBy: 'name' })).toMatchObject({
      data: [{ id, membersCount: 1 }],
      totalCount: 1,
    })
  })
})

describe('FUNCTION_CALL refuses', () => {
  it.each([
    ['createUser', { emailAdress: 'ada@example.com' }, 'emailAdress', '“emailAddress”'],
    ['createUser', { emailAddress: [] }, 'emailAddress', '>=1 items'],
    ['createUser', { emailAddress: 7 }, 'emailAddress', 'expected a text'],
    ['createUser', { publicMetadata: 'pro' }, 'publicMetadata', 'expected'],
    ['getUser', {}, 'userId', 'is required'],
    ['getUser', { userId: '../organizations' }, 'userId', 'is not the id of a user'],
    ['updateUser', { userId: 'user_1', emailAddress: 'a@example.com' }, 'emailAddress', 'is not known here'],
    ['listUsers', { limit: 501 }, 'limit', '500'],
    ['listUsers', { limit: 0 }, 'limit', '1'],
    ['listUsers', { offset: -1 }, 'offset', '0'],
    ['listUsers', { orderBy: 'created_at' }, 'orderBy', 'createdAt'],
    ['updateUser', { userId: 'user_1', password: null }, 'password', 'expected string'],
    ['listUsers', { userId: Array(101).fill('user_1') }, 'userId', '100'],
    ['countUsers', { emailAddress: [''] }, 'emailAddress[0]', '>=1 characters'],
    ['createOrganization', { slug: 'shop' }, 'name', 'is required'],
    ['createOrganization', { maxAllowedMemberships: 1.5 }, 'maxAllowedMemberships', 'expected int'],
    ['listOrganizations', { includeMemberCount: true }, 'includeMemberCount', '“includeMembersCount”'],
  ])('invalid arguments of %s: %j', async (name, given, path, words) => {
    expect(await call(name, given)).toMatchObject({
      status: 422,
      body: {
        code: 'invalid_arguments',
        retryable: false,
        errors: expect.arrayContaining([{ path, message: expect.stringContaining(words) }]),
      },
    })
    expect(requests).toEqual([])
  })
})

it('the provider’s refusal has its code and advice', async () => {
  shared.createUser({ email_address: [ada.emailAddress] })
  const provider = { name: 'idp', status: 422, code: 'form_identifier_exists' }
  const detail = expect.stringMatching(/taken.*listUsers/)
  const problem = { code: 'provider_rejected', retryable: false, detail, provider }
  expect(await call('createUser', ada)).toMatchObject({ status: 422, body: problem })
})

it('every error of the provider comes back, at the argument’s own name, with the provider’s trace id', async () => {
  const refusal = new Refusal(
    422,
    parameterReason(
      'form_param_format_invalid',
      'email_address',
      'is invalid',
      'ada@example.com is invalid.',
    ),
    parameterReason('form_password_pwned', 'password', 'is in a data breach'),
    parameterReason('form_param_nil', 'legal_accepted', 'Accept the terms.'),
    parameterReason('odd', 'ada@example.com', 'is a value, and not a name'),
    reason('no_parameter', 'The instance is read-only.'),
  )
  backend.faults.add(asFault(refusal))
  const message = '[address] is invalid.'
  const traceId = '5e1f0c2d4b6a79880f1e2d3c4b5a6978'
  const provider = { name: 'idp', status: 422, code: 'form_param_format_invalid', message, traceId }
  const { body } = await call('createUser', ada)
  expect(body).toMatchObject({ code: 'provider_rejected', provider })
  expect(body).toHaveProperty('errors', [
    { path: 'emailAddress', message },
    { path: 'password', message: 'is in a data breach' },
    { path: 'legal_accepted', message: 'Accept the terms.' },
    { path: '', message: 'is a value, and not a name' },
    { path: '', message: 'The instance is read-only.' },
  ])
})

it.each([
  ['updateUser', 'username', (userId: string) => ({ userId, username: 'taken' }), 'Choose another value'],
  ['createOrganization', 'slug', () => ({ name: 'Shop', slug: 'taken' }), 'Choose another slug'],
])('a taken value has the advice of %s', async (name, path, given, advice) => {
  shared.createUser({ username: 'taken' })
  shared.createOrganization({ slug: 'taken' })
  const { body } = await call(name, given(shared.createUser().id))
  const detail = expect.stringMatching(new RegExp(`is taken.*${advice}`))
  expect(body).toMatchObject({ detail, errors: [{ path }], provider: { code: 'form_identifier_exists' } })
  expect(JSON.stringify(body)).not.toContain('update it instead')
})

it.each([
  ['the password', 'a long pass phrase'],
  ['the shared secret key', shared.secretKey],
])('a response never contains %s, even if the provider quotes it', async (_what, quoted) => {
  backend.faults.add(asFault(new Refusal(422, reason('odd', `“${quoted}” is odd.`))))
  const { status, body } = await call('createUser', ada)
  expect(status).toBe(422)
  expect(JSON.stringify(body)).toContain('“[redacted]” is odd.')
  expect(JSON.stringify(body)).not.toContain(quoted)
})
