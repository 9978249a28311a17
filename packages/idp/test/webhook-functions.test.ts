import { describe, expect, it } from 'vitest'
import { asFault, Refusal, reason } from '../src/testing/index.ts'
import { runWebhook } from './webhook-support.ts'

const arrangement = runWebhook()
const { backend, requests, platform, shared, own, call, send, callers } = arrangement

/** A result, or the failure instead of one. */
async function resultOf(answer: ReturnType<typeof call>): Promise<unknown> {
  const { status, body } = await answer
  expect([status, body]).toEqual([200, { result: expect.anything() }])
  return typeof body === 'object' && body !== null && 'result' in body ? body.result : undefined
}

describe.each([
  ['without a deployment, on the shared application', shared, {}],
  ['with a deployment, on its own application', own, { deployment: { id: 'dep_1' } }],
])('%s,', (_where, instance, named) => {
  const run = (name: string, given: object) =>
    resultOf(send({ name: 'FUNCTION_CALL', functionCall: { name, arguments: given }, ...named }))

  it('users are created, read, listed, counted, changed and deleted', async () => {
    platform.addDeployment({ id: 'dep_1', inputs: arrangement.ownInputs })
    const created = await run('createUser', {
      emailAddress: 'ada@example.com',
      firstName: 'Ada',
      lastName: 'Lovelace',
      password: 'a long pass phrase',
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

  it('organizations are created and listed', async () => {
    platform.addDeployment({ id: 'dep_1', inputs: arrangement.ownInputs })
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

it('the minimal event of the specification creates a user', async () => {
  const functionCall = {
    name: 'createUser',
    arguments: { emailAddress: 'ada@example.com', firstName: 'Ada', lastName: 'Lovelace' },
  }
  expect((await send({ name: 'FUNCTION_CALL', functionCall })).status).toBe(200)
  expect([...shared.users.values()]).toMatchObject([{ first_name: 'Ada', last_name: 'Lovelace' }])
})

describe('a function is refused', () => {
  it.each([
    ['createUser', { emailAdress: 'ada@example.com' }, 'emailAdress', '“emailAddress”'],
    ['createUser', { firstname: 'Ada' }, 'firstname', '“firstName”'],
    ['createUser', { emailAddress: [] }, 'emailAddress', '>=1 items'],
    ['createUser', { emailAddress: 7 }, 'emailAddress', 'expected a text'],
    ['createUser', { publicMetadata: 'pro' }, 'publicMetadata', 'expected'],
    ['getUser', {}, 'userId', 'is required'],
    ['getUser', { userid: 'user_1' }, 'userid', '“userId”'],
    ['getUser', { userId: '../organizations' }, 'userId', 'is not the id of a user'],
    [
      'updateUser',
      { userId: 'user_1', emailAddress: 'ada@example.com' },
      'emailAddress',
      'is not known here',
    ],
    ['listUsers', { limit: 501 }, 'limit', '500'],
    ['listUsers', { limit: 0 }, 'limit', '1'],
    ['listUsers', { offset: -1 }, 'offset', '0'],
    ['listUsers', { orderBy: 'createdAt' }, 'orderBy', 'created_at'],
    ['listUsers', { afterStarting: 'user_1' }, 'afterStarting', 'is not known here'],
    ['countUsers', { emailAddress: [''] }, 'emailAddress[0]', '>=1 characters'],
    ['createOrganization', { slug: 'shop' }, 'name', 'is required'],
    [
      'createOrganization',
      { name: 'Shop', maxAllowedMemberships: 1.5 },
      'maxAllowedMemberships',
      'expected int',
    ],
    ['listOrganizations', { includeMemberCount: true }, 'includeMemberCount', '“includeMembersCount”'],
  ])('with arguments that do not fit: %s %j', async (name, given, path, words) => {
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

  it.each([
    ['createUsers', '“createUser”'],
    ['constructor', 'It has: createUser'],
  ])('that there is not: %s', async (name, words) => {
    expect(await call(name, {})).toMatchObject({
      status: 404,
      body: { code: 'unknown_function', detail: expect.stringContaining(words) },
    })
  })

  it('by the provider, in its words', async () => {
    shared.createUser({ email_address: ['ada@example.com'] })
    expect(await call('createUser', { emailAddress: 'ada@example.com' })).toMatchObject({
      status: 422,
      body: {
        code: 'provider_rejected',
        retryable: false,
        detail: expect.stringMatching(/taken.*listUsers/),
        provider: { name: 'idp', status: 422, code: 'form_identifier_exists' },
      },
    })
  })

  it('by the provider’s limit, with the time to wait', async () => {
    backend.faults.add({ status: 429, headers: { 'retry-after': '600' } })
    const { status, headers, body } = await call('countUsers', {})
    expect([status, headers.get('retry-after'), body]).toMatchObject([429, '600', { retryable: true }])
  })

  it('where the host has no shared application, naming the variables', async () => {
    const handler = arrangement.handler({ shared: { secretKey: '' } })
    const body = JSON.stringify({ name: 'FUNCTION_CALL', functionCall: { name: 'countUsers' } })
    const headers = { 'content-type': 'application/json' }
    const answer = await handler(new Request('http://host.test/', { method: 'POST', headers, body }))
    expect(await answer.json()).toMatchObject({
      status: 422,
      code: 'missing_credentials',
      detail: expect.stringContaining('IDP_SHARED_SECRET_KEY'),
    })
  })
})

it.each([
  ['the password', 'a long pass phrase'],
  ['the shared secret key', shared.secretKey],
])('an answer never shows %s, also where the provider quotes it', async (_what, quoted) => {
  backend.faults.add(asFault(new Refusal(422, reason('odd', `“${quoted}” is odd.`))))
  const given = { emailAddress: 'ada@example.com', password: 'a long pass phrase' }
  const { status, body } = await call('createUser', given)
  expect(status).toBe(422)
  expect(JSON.stringify(body)).toContain('“[redacted]” is odd.')
  expect(JSON.stringify(body)).not.toContain(quoted)
})
