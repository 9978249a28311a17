import { describe, expect, it } from 'vitest'
import { asFault, Refusal, reason } from '../src/testing/index.ts'
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
      nextCursor: userId,
    })
    expect(await run('countUsers', { query: 'nobody' })).toEqual({ count: 0 })
    expect(await run('countUsers', {})).toEqual({ count: 1 })
    const changes = { firstName: 'Augusta', publicMetadata: { beta: true } }
    expect(await run('updateUser', { userId, ...changes })).toMatchObject({
      firstName: 'Augusta',
      lastName: 'Lovelace',
      publicMetadata: { plan: 'free', beta: true },
    })
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
    ['listUsers', { orderBy: 'createdAt' }, 'orderBy', 'created_at'],
    ['countUsers', { emailAddress: [''] }, 'emailAddress[0]', '>=1 characters'],
    ['createOrganization', { slug: 'shop' }, 'name', 'is required'],
    [
      'createOrganization',
      { name: 'S', maxAllowedMemberships: 1.5 },
      'maxAllowedMemberships',
      'expected int',
    ],
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

  it('a call on a host without a shared application, and names the variables', async () => {
    const handler = fixture.handler({ shared: { secretKey: '' } })
    const body = JSON.stringify({ name: 'FUNCTION_CALL', functionCall: { name: 'countUsers' } })
    const headers = { 'content-type': 'application/json' }
    const response = await handler(new Request('http://host.test/', { method: 'POST', headers, body }))
    expect(await response.json()).toMatchObject({
      status: 422,
      code: 'missing_credentials',
      detail: expect.stringContaining('IDP_SHARED_SECRET_KEY'),
    })
  })
})

describe('a redelivery of createUser', () => {
  it('repeats the provider’s refusal, with its code and advice', async () => {
    const { id } = shared.createUser({ email_address: [ada.emailAddress] })
    const first = await call('createUser', ada, 'evt_1')
    expect(first).toMatchObject({
      status: 422,
      body: {
        code: 'provider_rejected',
        retryable: false,
        detail: expect.stringMatching(/taken.*listUsers/),
        provider: { name: 'idp', status: 422, code: 'form_identifier_exists' },
      },
    })
    shared.users.delete(id)
    const again = await call('createUser', ada, 'evt_1')
    expect([again.status, again.body]).toEqual([422, first.body])
    expect(shared.users.size).toBe(0)
  })

  it('creates the user after a rate limit, which passes Retry-After on', async () => {
    backend.faults.add({ status: 429, headers: { 'retry-after': '600' } })
    const first = await call('createUser', ada, 'evt_1')
    expect(first).toMatchObject({ status: 429, body: { retryable: true } })
    expect(first.headers.get('retry-after')).toBe('600')
    expect((await call('createUser', ada, 'evt_1')).status).toBe(200)
    expect(shared.users.size).toBe(1)
  })

  it('repeats an unknown outcome, and creates no second user', async () => {
    backend.faults.add({ status: 504, takesEffect: true })
    const first = await call('createUser', ada, 'evt_1')
    expect(first).toMatchObject({ status: 409, body: { code: 'outcome_unknown', retryable: false } })
    expect(first.headers.has('retry-after')).toBe(false)
    const again = await call('createUser', ada, 'evt_1')
    expect([again.status, again.body]).toEqual([409, first.body])
    expect([requests.length, shared.users.size]).toEqual([1, 1])
  })
})

it('a redelivery of countUsers counts again', async () => {
  expect((await call('countUsers', {}, 'evt_1')).body).toEqual({ result: { count: 0 } })
  shared.createUser()
  expect((await call('countUsers', {}, 'evt_1')).body).toEqual({ result: { count: 1 } })
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
